//! A program's arguments: of the configuration, and of an indexed query (RFC 3875 §4.4).

use anyhow::{Context, Result, ensure};
use warmbin_tests::HostBuilder;

use super::Where::{Everywhere, Native};
use super::scene::{PLAIN, Scene, pull, puppet_as};
use super::section;

const NO_INTERPRETER: &str = "A module is run by no interpreter.";

section! {
    "Arguments";
    e45 Everywhere, "`?a+b%20c`" => "no arguments: a query gives none by default": off_by_default;
    e46 Everywhere, on indexed, "the same with `indexed_query`" => "the words, decoded": words;
    e47 Everywhere, on indexed, "`?a=b`, `?a+b=c`" => "no arguments": named_values;
    e48 Everywhere, on indexed, "`?a++b`, `?+`" => "empty words are words": empty_words;
    e49 Everywhere, on indexed, "`?`, and no query at all" => "no arguments, not one that is empty": empty_query;
    e50 Everywhere, on indexed, "a word with an encoded NUL, `%3d`, shell characters, a malformed encoding" =>
        "none at all; decoded; as it is": odd_words;
    e51 Native(NO_INTERPRETER), on interpreted, "`?-d+allow_url_include%3d1` to a file that an interpreter runs" =>
        "the interpreter is given no arguments": interpreter_options;
    e80 Everywhere, on indexed, "`?-d+x`, `?%2Dd`, `?a+-d`, `?-`" =>
        "no arguments where a word looks like an option": option_like;
    e81 Everywhere, on indexed, "`args` of the configuration and a query" => "the configured ones, then the words": configured;
}

fn indexed(builder: HostBuilder) -> Result<HostBuilder> {
    let builder = builder.guest("puppet", "indexed_query = true");
    Ok(puppet_as(
        builder,
        "with-args",
        "indexed_query = true\nargs = [\"-v\", \"two words\"]",
    ))
}

/// An interpreter that shows how it was called, for files that end in `.x`.
fn interpreted(builder: HostBuilder) -> Result<HostBuilder> {
    const SHOW: &str = "#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\n'; echo $(($# + 1)); \
                        echo \"$0\"; for a in \"$@\"; do echo \"$a\"; done\n";
    let builder = builder.script("interpreter", SHOW, "indexed_query = true")?;
    let folder = builder.folder().to_owned();
    std::fs::create_dir(folder.join("pages"))?;
    std::fs::write(folder.join("pages/page.x"), "source")?;
    Ok(builder.table(
        "[[directory]]\nurl = \"/pages\"\npath = \"pages\"\ninterpreters = { \".x\" = \"interpreter\" }\nindexed_query = true",
    ))
}

/// The arguments after the program's name that a request for `target` gives.
async fn arguments(scene: &Scene<'_>, target: &str) -> Result<Vec<String>> {
    let answer = scene.get(target, &pull(&format!("{PLAIN}; args"))).await?;
    ensure!(answer.status == 200, "{target}: {answer:?}");
    let text = answer.text();
    let mut lines = text.lines();
    let count: usize = lines.next().context("a count")?.parse()?;
    let lines: Vec<String> = lines.map(str::to_owned).collect();
    ensure!(count == lines.len(), "{target}: {count} {lines:?}");
    Ok(lines.into_iter().skip(1).collect())
}

async fn expect(scene: &Scene<'_>, query: &str, expected: &[&str]) -> Result<()> {
    let found = arguments(scene, &format!("/cgi-bin/puppet{query}")).await?;
    ensure!(found == expected, "{query}: {found:?}");
    Ok(())
}

async fn off_by_default(scene: &Scene<'_>) -> Result<()> {
    for query in ["?a+b%20c", "?a", "?-x"] {
        expect(scene, query, &[]).await?;
    }
    Ok(())
}

async fn words(scene: &Scene<'_>) -> Result<()> {
    expect(scene, "?a+b%20c", &["a", "b c"]).await?;
    expect(scene, "?one", &["one"]).await
}

async fn named_values(scene: &Scene<'_>) -> Result<()> {
    for query in ["?a=b", "?a+b=c", "?=", "?a="] {
        expect(scene, query, &[]).await?;
    }
    Ok(())
}

async fn empty_words(scene: &Scene<'_>) -> Result<()> {
    expect(scene, "?a++b", &["a", "", "b"]).await?;
    expect(scene, "?+", &["", ""]).await
}

async fn empty_query(scene: &Scene<'_>) -> Result<()> {
    expect(scene, "?", &[]).await?;
    expect(scene, "", &[]).await
}

async fn odd_words(scene: &Scene<'_>) -> Result<()> {
    expect(scene, "?a+%00", &[]).await?;
    expect(scene, "?a%3db", &["a=b"]).await?;
    expect(scene, "?a;ls|x&$(y)+*", &["a;ls|x&$(y)", "*"]).await?;
    expect(scene, "?%zz", &["%zz"]).await
}

async fn interpreter_options(scene: &Scene<'_>) -> Result<()> {
    for target in ["/pages/page.x", "/pages/page.x/info", "/cgi-bin/interpreter"] {
        for query in ["?-d+allow_url_include%3d1", "?-s"] {
            let found = arguments(scene, &format!("{target}{query}")).await?;
            ensure!(found.is_empty(), "{target}{query}: {found:?}");
        }
    }
    let found = arguments(scene, "/pages/page.x?word").await?;
    ensure!(found.is_empty(), "{found:?}");
    Ok(())
}

async fn option_like(scene: &Scene<'_>) -> Result<()> {
    for query in ["?-d+x", "?%2Dd", "?a+-d", "?-"] {
        expect(scene, query, &[]).await?;
    }
    Ok(())
}

async fn configured(scene: &Scene<'_>) -> Result<()> {
    let found = arguments(scene, "/cgi-bin/with-args?a+b").await?;
    ensure!(found == ["-v", "two words", "a", "b"], "{found:?}");
    let found = arguments(scene, "/cgi-bin/with-args?a=b").await?;
    ensure!(found == ["-v", "two words"], "{found:?}");
    Ok(())
}
