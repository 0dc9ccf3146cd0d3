//! haserl: pages with shell in them.

use anyhow::Result;
use reqwest::multipart::{Form, Part};

use super::example::{Example, all_ended_well, hash, head_agrees, noise, text};

const FORM: &str = "/haserl/form.sh";

#[tokio::test(flavor = "multi_thread")]
async fn haserl_reads_queries_forms_and_uploads() -> Result<()> {
    let host = Example::of("haserl", "/usr/bin/haserl", "haserl")?
        .start()
        .await?;
    let page = text(&host, &format!("{FORM}?name=a%26b+%C3%A9")).await?;
    assert_eq!(page.trim_end(), "name: a&b é\nnote: \nfile:");
    head_agrees(&host, &format!("{FORM}?name=x")).await?;

    let answer = host
        .post(FORM)
        .header("content-type", "application/x-www-form-urlencoded")
        .body("name=me&note=%22two+words%22")
        .send()
        .await?;
    assert_eq!(answer.status(), 200);
    assert_eq!(
        answer.text().await?.trim_end(),
        "name: me\nnote: \"two words\"\nfile:"
    );

    let bytes = noise(3 << 20);
    let expected = format!("file: {}", hash(&bytes));
    let form = Form::new()
        .text("note", "with a file")
        .part("file", Part::bytes(bytes).file_name("a b.bin"));
    let answer = host.post(FORM).multipart(form).send().await?;
    assert_eq!(answer.status(), 200);
    let page = answer.text().await?;
    assert!(
        page.contains("note: with a file") && page.contains(&expected),
        "{page}"
    );
    all_ended_well(&host, 5).await
}
