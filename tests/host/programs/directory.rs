//! Drop-in folders, from the configuration and from the command line.

use anyhow::Result;
use warmbin_tests::{TestHost, guest, repository};

#[tokio::test]
async fn the_sample_scripts_run_from_their_folder() -> Result<()> {
    let scripts = repository().join("guests/scripts");
    let host = TestHost::builder()?
        .table(&format!(
            "[[directory]]\nurl = \"/scripts\"\npath = '{}'",
            scripts.display()
        ))
        .start()
        .await?;

    let hello = host.get("/scripts/hello.sh/more").send().await?.text().await?;
    assert!(hello.contains("/scripts/hello.sh/more with GET"), "{hello}");

    let printenv = host.get("/scripts/printenv.py?a=b").send().await?.text().await?;
    assert!(
        printenv.lines().any(|line| line == "QUERY_STRING=a=b"),
        "{printenv}"
    );
    let filename = format!("SCRIPT_FILENAME={}", scripts.join("printenv.py").display());
    assert!(printenv.lines().any(|line| line == filename), "{printenv}");

    let form = host
        .post("/scripts/form.pl")
        .header("Content-Type", "application/x-www-form-urlencoded")
        .body("name=%3Cb%3E&message=a+b")
        .send()
        .await?
        .text()
        .await?;
    assert!(
        form.contains("<dt>name</dt><dd>&lt;b&gt;</dd>") && form.contains("<dd>a b</dd>"),
        "{form}"
    );
    Ok(())
}

#[tokio::test]
async fn a_folder_named_on_the_command_line_is_served_at_cgi_bin() -> Result<()> {
    let builder = TestHost::builder()?;
    let folder = builder.folder().join("cgi-bin");
    std::fs::create_dir(&folder)?;
    std::fs::copy(guest("hello", "native"), folder.join("hello"))?;
    let host = builder
        .argument("--cgi-bin")
        .argument(folder.display().to_string())
        .start()
        .await?;
    assert_eq!(host.get("/cgi-bin/hello").send().await?.status(), 200);
    Ok(())
}
