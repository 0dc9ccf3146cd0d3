//! Drop-in folders, from the configuration and from the command line.

use std::os::unix::fs::PermissionsExt;

use anyhow::Result;
use warmbin_tests::{TestHost, exchange, guest, repository};

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
async fn only_executables_below_the_folder_are_run_and_no_source_is_shown() -> Result<()> {
    let builder = TestHost::builder()?;
    let folder = builder.folder().join("cgi-bin");
    std::fs::create_dir_all(folder.join("sub"))?;
    std::fs::write(folder.join("plain.sh"), "#!/bin/sh\necho secret source\n")?;
    std::fs::copy(guest("hello", "native"), folder.join("hello"))?;
    std::fs::copy(guest("hello", "wasm"), folder.join("sub/hello.wasm"))?;
    std::fs::write(
        builder.folder().join("outside.sh"),
        "#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\noutside'\n",
    )?;
    std::fs::set_permissions(
        builder.folder().join("outside.sh"),
        std::fs::Permissions::from_mode(0o755),
    )?;
    let host = builder
        .argument("--cgi-bin")
        .argument(folder.display().to_string())
        .start()
        .await?;

    assert_eq!(host.get("/cgi-bin/hello").send().await?.status(), 200);
    let module = host.get("/cgi-bin/sub/hello.wasm").send().await?;
    assert_eq!(
        (
            module.status().as_u16(),
            module.headers()["warmbin-mode"].to_str()?
        ),
        (200, "wasm-warm")
    );
    for (path, status) in [
        ("/cgi-bin/plain.sh", 403),
        ("/cgi-bin/none", 404),
        ("/cgi-bin/hello%20", 404),
        ("/cgi-bin/sub", 301),
        ("/cgi-bin/../outside.sh", 404),
        ("/cgi-bin/%2e%2e/outside.sh", 404),
        ("/cgi-bin/..%2foutside.sh", 404),
        ("/nothing", 404),
    ] {
        let request = format!("GET {path} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
        let answer = exchange(host.programs(), request.as_bytes()).await?;
        assert_eq!(answer.status, status, "{path}");
        assert!(
            !answer.text().contains("secret") && !answer.text().contains("outside"),
            "{path}: {}",
            answer.text()
        );
    }
    Ok(())
}
