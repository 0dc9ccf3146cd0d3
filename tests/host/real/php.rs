//! PHP, by the files' extension.

use anyhow::{Context, Result, ensure};
use reqwest::multipart::{Form, Part};
use warmbin_tests::{TestHost, chunked};

use super::example::{Example, all_ended_well, field, hash, head_agrees, noise, page, text};

fn example() -> Result<Example> {
    Example::of("PHP", "/usr/bin/php-cgi", "php-cgi")?
        .file("php/form.php", include_str!("php/form.php"))?
        .file("php/raw.php", include_str!("php/raw.php"))?
        .file("php/stream.php", include_str!("php/stream.php"))?
        .file("php/condition.php", include_str!("php/condition.php"))?
        .file("php/app/index.php", "<?php echo $_SERVER['SCRIPT_NAME'];")
}

async fn host() -> Result<TestHost> {
    example()?.start().await
}

#[tokio::test(flavor = "multi_thread")]
async fn php_reads_queries_paths_and_cookies_and_sets_some() -> Result<()> {
    let host = host().await?;
    let answer = host
        .get("/php/form.php/extra/path?a=1&list[]=x&list[]=y%26z")
        .header("cookie", "one=first; two=sec%20ond")
        .send()
        .await?;
    assert_eq!(answer.status(), 200);
    assert!(answer.headers().get("content-length").is_none() || answer.content_length().is_some());
    let cookies: Vec<_> = answer.headers().get_all("set-cookie").iter().cloned().collect();
    assert_eq!(cookies, ["seen=a%20b; path=/php; HttpOnly", "other=2"]);
    assert_eq!(
        field(answer.headers(), "content-type")?,
        "text/plain; charset=utf-8"
    );
    assert_eq!(
        answer.text().await?,
        "get a: 1\nget list: x,y&z\ncookie one: first\ncookie two: sec ond\nREQUEST_METHOD: GET\n\
         SCRIPT_NAME: /php/form.php\nPHP_SELF: /php/form.php/extra/path\nPATH_INFO: /extra/path\n\
         QUERY_STRING: a=1&list[]=x&list[]=y%26z\n"
    );
    assert_eq!(text(&host, "/php/app/").await?, "/php/app/index.php");
    head_agrees(&host, "/php/form.php?a=1").await?;
    all_ended_well(&host, 4).await
}

#[tokio::test(flavor = "multi_thread")]
async fn php_reads_forms_and_uploads() -> Result<()> {
    let host = host().await?;
    let answer = host
        .post("/php/form.php?q=1")
        .header("content-type", "application/x-www-form-urlencoded")
        .body("name=J%C3%BCrgen&empty=")
        .send()
        .await?;
    let page = answer.text().await?;
    assert!(
        page.starts_with("get q: 1\npost name: J\u{fc}rgen\npost empty: \nREQUEST_METHOD: POST\n"),
        "{page}"
    );

    let bytes = noise(7 << 20);
    let expected = format!("file file: 0 {} {}\n", bytes.len(), hash(&bytes));
    let form = Form::new()
        .text("note", "n")
        .part("file", Part::bytes(bytes.clone()).file_name("a.bin"));
    let answer = host.post("/php/form.php").multipart(form).send().await?;
    let page = answer.text().await?;
    assert!(
        page.starts_with("post note: n\n") && page.contains(&expected),
        "{page}"
    );

    // No length, no form.
    let answer = host
        .post("/php/raw.php")
        .header("content-type", "application/octet-stream")
        .body(chunked(&bytes, 100_000))
        .send()
        .await?;
    assert_eq!(answer.text().await?, hash(&bytes));
    all_ended_well(&host, 3).await
}

#[tokio::test(flavor = "multi_thread")]
async fn what_php_flushes_arrives_before_it_goes_on() -> Result<()> {
    let example = example()?;
    let go = example.root().join("php/go");
    let host = example.start().await?;
    let mut answer = host.get("/php/stream.php").send().await?;
    let first = answer.chunk().await?.context("a first piece")?;
    assert_eq!(first, "first\n");
    std::fs::write(go, "")?;
    assert_eq!(answer.text().await?, "second\n");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn php_answers_conditions_and_gives_statuses_of_its_own() -> Result<()> {
    let host = host().await?;
    let (fields, _) = page(&host, "/php/condition.php").await?;
    let etag = field(&fields, "etag")?;
    let same = host
        .get("/php/condition.php")
        .header("If-None-Match", etag)
        .send()
        .await?;
    assert_eq!(same.status(), 304);
    assert_eq!(field(same.headers(), "etag")?, etag);
    assert!(same.bytes().await?.is_empty());
    let other = host
        .get("/php/condition.php")
        .header("If-None-Match", "\"version-0\"")
        .send()
        .await?;
    assert_eq!(other.status(), 200);
    let gone = host.get("/php/condition.php?gone").send().await?;
    assert_eq!(
        (gone.status().as_u16(), gone.text().await?.as_str()),
        (410, "the page\n")
    );
    let away = host.get("/php/condition.php?away").send().await?;
    assert_eq!(away.status(), 303);
    assert_eq!(field(away.headers(), "location")?, "/php/form.php?from=away");
    let none = host.get("/php/none.php").send().await?;
    assert_eq!(none.status(), 404);
    Ok(())
}

/// CVE-2012-1823, CVE-2012-2311 and CVE-2024-4577: options of the interpreter in the query.
#[tokio::test(flavor = "multi_thread")]
async fn no_query_is_an_option_of_the_interpreter() -> Result<()> {
    for setting in ["", "indexed_query = true"] {
        let host = example()?.line(setting).start().await?;
        for query in [
            "-s",
            "+-s",
            "%2Ds",
            "%20-s",
            "--",
            "-i",
            "-d+allow_url_include%3d1+-d+auto_prepend_file%3dphp://input",
            "%2Dd+allow_url_include%3Don+%2Dd+auto_prepend_file%3Dphp%3A%2F%2Finput",
            "%AD-s",
            "%ADs",
            "%ADd+allow_url_include%3d1+%ADd+auto_prepend_file%3dphp://input",
        ] {
            for target in ["/php/form.php", "/php/app/"] {
                let answer = host
                    .post(&format!("{target}?{query}"))
                    .header("content-type", "text/plain")
                    .body("<?php echo 'it ', 'ran';")
                    .send()
                    .await?;
                let status = answer.status();
                let page = answer.text().await?;
                ensure!(status == 200, "{setting} {query}: {status}");
                for sign in [
                    "it ran",
                    "never-to-be-seen",
                    "&lt;?php",
                    "<?php",
                    "phpinfo",
                    "PHP Version",
                ] {
                    ensure!(!page.contains(sign), "{setting} {query}: {page}");
                }
                ensure!(
                    page.contains("SCRIPT_NAME: /php/form.php") || page == "/php/app/index.php",
                    "{setting} {query}: {page}"
                );
            }
        }
    }
    Ok(())
}
