//! A form in Perl with CGI.pm, as they have been written for thirty years.

use anyhow::Result;
use reqwest::multipart::{Form, Part};

use super::example::{Example, all_ended_well, hash, head_agrees, noise, page};

const FORM: &str = "/perl/form.pl";

async fn host() -> Result<warmbin_tests::TestHost> {
    let example = Example::of("Perl and CGI.pm", "/usr/share/perl5/CGI.pm", "libcgi-pm-perl")?;
    example
        .file("perl/form.pl", include_str!("form.pl"))?
        .start()
        .await
}

#[tokio::test(flavor = "multi_thread")]
async fn cgi_pm_reads_queries_forms_and_cookies_and_sets_some() -> Result<()> {
    let host = host().await?;
    let (fields, body) = page(&host, &format!("{FORM}?a=1&b=x%2By+z&a=2")).await?;
    assert_eq!(String::from_utf8(body)?, "a: 1,2\nb: x+y z\ncookie: \n");
    let cookies: Vec<_> = fields.get_all("set-cookie").iter().collect();
    assert_eq!(cookies, ["seen=yes; path=/", "b=2; path=/"]);
    head_agrees(&host, FORM).await?;

    let answer = host
        .post(&format!("{FORM}?ignored=1"))
        .header("content-type", "application/x-www-form-urlencoded")
        .header("cookie", "one=first; two=second")
        .body("a=%C3%A9&b=")
        .send()
        .await?;
    assert_eq!(answer.status(), 200);
    assert_eq!(answer.text().await?, "a: \u{e9}\nb: \ncookie: first\n");
    all_ended_well(&host, 4).await
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_of_five_megabytes_arrives_unchanged() -> Result<()> {
    let host = host().await?;
    let bytes = noise(5 << 20);
    let expected = format!("file: {} image/x-test ", hash(&bytes));
    let form = Form::new().text("a", "b").part(
        "file",
        Part::bytes(bytes)
            .file_name("picture.x")
            .mime_str("image/x-test")?,
    );
    let answer = host.post(FORM).multipart(form).send().await?;
    assert_eq!(answer.status(), 200);
    let page = answer.text().await?;
    assert!(page.contains(&format!("{expected}picture.x\n")), "{page}");
    assert!(page.starts_with("a: b\n"), "{page}");
    all_ended_well(&host, 1).await
}
