//! Who is asking, and whether they may: admin token as bearer, or a session cookie that a browser got for it.

mod access;
mod authenticate;
mod limiter;
pub(super) mod login;
pub(super) mod logout;
mod next;
mod session;

pub(super) use authenticate::authenticate;
pub(super) use limiter::LoginLimiter;
