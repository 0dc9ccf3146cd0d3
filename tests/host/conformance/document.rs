//! docs/CONFORMANCE.md: the tables as a page.

use std::fmt::Write as _;

use anyhow::{Result, ensure};
use warmbin_tests::{MODES, repository};

use super::{SECTIONS, Where};

const PREAMBLE: &str = "\
# CGI conformance

What warmbin holds itself to, case by case. Each row is a test of that number against the running server, in every mode
with a mark; `make conformance` runs them all, and this page is made of them (`make conformance-doc`).

A mark means: tested, and as expected. *once* means that the host answers before a mode matters. A dash has its reason
below the table.
";

/// What others hold themselves to and what has no meaning in this version.
const LEFT_OUT: [(&str, &str); 5] = [
    (
        "L32",
        "A spawner that is killed: programs are started by the host itself.",
    ),
    ("X35", "As X27."),
    (
        "X45",
        "Programs that run as root: they run as the user that the host runs as. Start it as one of its own.",
    ),
    ("X56", "Two users' programs: as X45."),
    ("S01–S18", "Server-side includes: `.shtml` is a 403."),
];

fn page() -> String {
    let mut page = PREAMBLE.to_owned();
    for section in SECTIONS {
        let _ = write!(page, "\n## {}\n\n| | given | expected |", section.title);
        for mode in MODES {
            let _ = write!(page, " {mode} |");
        }
        let _ = writeln!(page, "\n|---|---|---|{}", "---|".repeat(MODES.len()));
        let mut reasons: Vec<&str> = Vec::new();
        for case in section.cases {
            let id = case.id.to_uppercase();
            let _ = write!(page, "| {id} | {} | {} |", cell(case.given), cell(case.expected));
            for mode in MODES {
                let mark = match case.holds {
                    Where::BeforeTheMode => "once".to_owned(),
                    Where::Everywhere => "✓".to_owned(),
                    Where::Native(_) if case.holds.holds_in(mode) => "✓".to_owned(),
                    Where::Native(reason) => {
                        let known = reasons.iter().position(|known| *known == reason);
                        let at = known.unwrap_or_else(|| {
                            reasons.push(reason);
                            reasons.len() - 1
                        });
                        format!("– ({})", at + 1)
                    }
                };
                let _ = write!(page, " {mark} |");
            }
            page.push('\n');
        }
        if !reasons.is_empty() {
            page.push('\n');
        }
        for (at, reason) in reasons.iter().enumerate() {
            let _ = writeln!(page, "{}. {reason}", at + 1);
        }
    }
    page.push_str("\n## Left out\n\n");
    for (id, reason) in LEFT_OUT {
        let _ = writeln!(page, "* {id}: {reason}");
    }
    page
}

/// Text for a cell: a bar would end it.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

#[test]
fn the_page_shows_the_cases_that_are_tested() -> Result<()> {
    let file = repository().join("docs/CONFORMANCE.md");
    let page = page();
    if std::env::var_os("WARMBIN_WRITE_DOCS").is_some() {
        std::fs::write(&file, &page)?;
    }
    let written = std::fs::read_to_string(&file).unwrap_or_default();
    ensure!(
        written == page,
        "docs/CONFORMANCE.md is not what the cases say: make conformance-doc"
    );
    Ok(())
}

#[test]
fn a_number_is_given_once() {
    let mut ids: Vec<&str> = SECTIONS
        .iter()
        .flat_map(|section| section.cases)
        .map(|case| case.id)
        .collect();
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count);
}
