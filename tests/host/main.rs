//! Black-box tests. Modules mirror what is addressed: programs, programs of others, the API, the command line, the pages.
#[cfg(test)]
mod api;
#[cfg(test)]
mod browser;
#[cfg(test)]
mod cli;
#[cfg(test)]
mod conformance;
#[cfg(test)]
mod programs;
#[cfg(test)]
mod real;
