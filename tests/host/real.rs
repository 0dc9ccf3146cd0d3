//! Programs that warmbin's authors did not write, from Debian's packages, served as docs/PROGRAMS.md says.

mod cgit;
mod example;
mod form;
mod fossil;
mod git;
mod gitweb;
mod haserl;
mod man2html;
mod mimetex;
mod php;
mod repositories;
