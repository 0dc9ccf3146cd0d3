//! gitweb: git's own browser for repositories, in Perl with CGI.pm.

use anyhow::Result;

use super::example::{Example, all_ended_well, field, head_agrees, installed, page, text};
use super::repositories::{README, demo};

#[tokio::test(flavor = "multi_thread")]
async fn gitweb_shows_a_repository_and_answers_conditions_on_its_feeds() -> Result<()> {
    installed("/usr/share/perl5/HTTP/Date.pm", "libhttp-date-perl")?;
    let example = Example::of("gitweb", "/usr/lib/cgi-bin/gitweb.cgi", "gitweb")?;
    demo(&example.root())?;
    let host = example.start().await?;

    let list = text(&host, "/gitweb").await?;
    assert!(
        list.contains("demo.git") && list.contains("href=\"/gitweb.css\""),
        "{list}"
    );
    let (fields, sheet) = page(&host, "/gitweb.css").await?;
    assert!(field(&fields, "content-type")?.starts_with("text/css"));
    assert_eq!(sheet, std::fs::read("/usr/share/gitweb/static/gitweb.css")?);

    let summary = "/gitweb?p=demo.git;a=summary";
    assert!(text(&host, summary).await?.contains("First &amp; last"));
    head_agrees(&host, summary).await?;

    // By the query, and by extra path.
    for target in [
        "/gitweb?p=demo.git;a=blob_plain;f=readme.txt;hb=HEAD",
        "/gitweb/demo.git/blob_plain/HEAD:/readme.txt",
    ] {
        let (fields, blob) = page(&host, target).await?;
        assert_eq!(blob, README.as_bytes(), "{target}");
        assert!(field(&fields, "content-type")?.starts_with("text/plain"));
        assert!(field(&fields, "content-disposition")?.contains("readme.txt"));
        head_agrees(&host, target).await?;
    }

    let feed = "/gitweb?p=demo.git;a=atom";
    let (fields, atom) = page(&host, feed).await?;
    assert_eq!(
        field(&fields, "content-type")?,
        "application/atom+xml; charset=utf-8"
    );
    assert!(String::from_utf8(atom)?.contains("<title type=\"html\">First &amp;"));
    // Gitweb writes this date as mail does.
    let modified = field(&fields, "last-modified")?;
    assert!(modified.ends_with(" GMT"), "{modified}");
    for (since, status) in [(modified, 304), ("Thu, 01 Jan 2004 00:00:00 GMT", 200)] {
        let answer = host.get(feed).header("If-Modified-Since", since).send().await?;
        assert_eq!(answer.status(), status, "{since}");
        assert_eq!(answer.bytes().await?.is_empty(), status == 304, "{since}");
    }

    let none = host.get("/gitweb?p=none.git").send().await?;
    assert_eq!(none.status(), 404);
    all_ended_well(&host, 13).await
}
