//! man2html: manual pages, with the query as the page's name.

use anyhow::Result;

use super::example::{Example, field, head_agrees, page, text};

const MANUAL: &str = "/usr/share/man/man1";

/// The name of a page that is installed; some images leave all of them out.
fn some_page() -> Option<String> {
    let mut names: Vec<String> = std::fs::read_dir(MANUAL)
        .ok()?
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let name = entry.file_name().into_string().ok()?;
            let stem = name.strip_suffix(".1.gz")?;
            let plain = stem.bytes().all(|byte| byte.is_ascii_lowercase());
            (plain && entry.file_type().ok()?.is_file()).then(|| stem.to_owned())
        })
        .collect();
    names.sort();
    names.into_iter().next()
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_are_shown_by_name_and_by_section() -> Result<()> {
    let program = "/usr/lib/cgi-bin/man/man2html";
    let host = Example::of("man2html", program, "man2html")?.start().await?;
    let start = text(&host, "/cgi-bin/man/man2html").await?;
    assert!(start.contains("Manual Pages - Main Contents"), "{start}");
    head_agrees(&host, "/cgi-bin/man/man2html").await?;

    let none = host.get("/cgi-bin/man/man2html?1+no-such-page").send().await?;
    assert_eq!(none.status(), 404);
    assert!(none.text().await?.contains("no man pages available"));

    let Some(name) = some_page() else {
        println!("no manual page is installed in {MANUAL}");
        return Ok(());
    };
    for query in [name.clone(), format!("1+{name}")] {
        let target = format!("/cgi-bin/man/man2html?{query}");
        let (fields, body) = page(&host, &target).await?;
        assert_eq!(field(&fields, "content-type")?, "text/html; charset=UTF-8");
        field(&fields, "last-modified")?;
        // Not every page is titled as its file is named.
        let body = String::from_utf8_lossy(&body).to_lowercase();
        assert!(
            body.contains("<title>man page of ") && body.contains(&name),
            "{query}: {body}"
        );
        head_agrees(&host, &target).await?;
    }
    Ok(())
}
