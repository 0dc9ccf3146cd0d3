//! The pages, one file each.

pub(crate) mod error;
pub(crate) mod filter_form;
pub(crate) mod login;
pub(crate) mod overview;
pub(crate) mod program;
pub(crate) mod programs;
pub(crate) mod request;
pub(crate) mod requests;
pub(crate) mod summary;
