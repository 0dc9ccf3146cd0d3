//! The rules of CGI, case by case, in every mode that a case has a meaning in.
//!
//! A case is a row of one of the tables below this module: its number, what is done, what has to come of it, and a
//! function that sees to it. Each row becomes a test of that number, and docs/CONFORMANCE.md is made of the rows.

#![expect(
    clippy::unnecessary_wraps,
    reason = "every set-up of a case has the shape of those that can fail"
)]

mod arguments;
mod body;
mod body_faults;
mod body_limits;
mod children;
mod client;
mod document;
mod documents;
mod environment;
mod error_documents;
mod expectations;
mod faults;
mod finding;
mod flow;
mod folders;
mod framing;
mod headers;
mod life;
mod load;
mod load_faults;
mod process_faults;
mod processes;
mod replaced;
mod response;
mod response_faults;
mod routing_faults;
mod scene;
mod sendfile;
mod streaming;
mod streaming_faults;
mod whole_responses;

use std::pin::Pin;

use anyhow::{Context, Result};
use warmbin_tests::{HostBuilder, MODES, TestHost};

use scene::Scene;

/// Where a case has a meaning.
#[derive(Debug, Clone, Copy)]
enum Where {
    /// In every mode.
    Everywhere,
    /// In the native modes; the text says what a sandbox makes of it.
    Native(&'static str),
    /// It is answered before a mode matters, and so asked once.
    BeforeTheMode,
}

impl Where {
    fn holds_in(self, mode: &str) -> bool {
        match self {
            Self::Everywhere => true,
            Self::Native(_) => !mode.starts_with("wasm"),
            Self::BeforeTheMode => mode == MODES[0],
        }
    }
}

/// A host that is being described for a case.
type Setup = fn(HostBuilder) -> Result<HostBuilder>;

/// What a case does and holds against what it sees.
type Check = for<'s> fn(&'s Scene<'s>) -> Pin<Box<dyn Future<Output = Result<()>> + 's>>;

/// One rule.
struct Case {
    /// Its number: a letter and two digits.
    id: &'static str,
    holds: Where,
    /// What is done.
    given: &'static str,
    /// What has to come of it.
    expected: &'static str,
    setup: Setup,
    check: Check,
}

/// A section of the rules.
struct Section {
    title: &'static str,
    cases: &'static [Case],
}

const SECTIONS: &[&Section] = &[
    &environment::SECTION,
    &headers::SECTION,
    &client::SECTION,
    &arguments::SECTION,
    &finding::SECTION,
    &folders::SECTION,
    &replaced::SECTION,
    &documents::SECTION,
    &error_documents::SECTION,
    &response::SECTION,
    &whole_responses::SECTION,
    &sendfile::SECTION,
    &body::SECTION,
    &body_limits::SECTION,
    &framing::SECTION,
    &expectations::SECTION,
    &body_faults::SECTION,
    &life::SECTION,
    &children::SECTION,
    &streaming::SECTION,
    &load::SECTION,
    &faults::SECTION,
    &response_faults::SECTION,
    &routing_faults::SECTION,
    &process_faults::SECTION,
    &streaming_faults::SECTION,
    &load_faults::SECTION,
];

/// Declares a section: `id where, [on setup,] given => expected: function;`. Each row becomes a test.
macro_rules! section {
    ($title:literal; $($id:ident $holds:expr, $(on $setup:expr,)? $given:literal => $expected:literal: $check:ident;)*) => {
        pub(super) const SECTION: super::Section = super::Section {
            title: $title,
            cases: &[$($id),*],
        };
        $(
            #[expect(non_upper_case_globals, reason = "a case has the name of its test")]
            const $id: super::Case = super::Case {
                id: stringify!($id),
                holds: $holds,
                given: $given,
                expected: $expected,
                setup: section!(@setup $($setup)?),
                check: |scene| Box::pin($check(scene)),
            };
        )*
        mod tests {
            $(
                #[tokio::test]
                async fn $id() -> anyhow::Result<()> {
                    super::super::play(&super::$id).await
                }
            )*
        }
    };
    (@setup) => { super::scene::puppet };
    (@setup $setup:expr) => { $setup };
}
use section;

/// Plays `case` on a host of its own, in every mode in which it has a meaning.
async fn play(case: &Case) -> Result<()> {
    let host = (case.setup)(TestHost::builder()?)?.start().await?;
    for mode in MODES.into_iter().filter(|mode| case.holds.holds_in(mode)) {
        let scene = Scene::new(&host, mode);
        (case.check)(&scene)
            .await
            .with_context(|| format!("{} in {mode}: {} => {}", case.id, case.given, case.expected))?;
    }
    // Its end is waited for. Elsewhere, so that clients of HTTP/2 can say goodbye meanwhile.
    Ok(tokio::task::spawn_blocking(move || drop(host)).await?)
}
