//! Which of the client's headers a program is told, and how (RFC 3875 §4.1.18).

use std::fmt::Write as _;

use anyhow::{Context, Result, ensure};
use warmbin_tests::HostBuilder;

use super::Where::{BeforeTheMode, Everywhere};
use super::flow::{Version, client};
use super::scene::{ENV, Expected, Scene, Variables, pull};
use super::section;

section! {
    "The environment: headers";
    e21 Everywhere, "`Foo_Bar: evil` and `Foo-Bar: good`" => "HTTP_FOO_BAR is `good`, in either order": underscores;
    e22 Everywhere, "`X.Y`, `X!Y`, `X~Y`" => "no variable": odd_names;
    e23 Everywhere, "`Proxy: http://evil`, also in capitals" => "no HTTP_PROXY": httpoxy;
    e24 Everywhere, "`Authorization`" => "no HTTP_AUTHORIZATION, AUTH_TYPE, REMOTE_USER": authorization;
    e25 Everywhere, on passes_authorization, "the same where `pass_authorization` is set" =>
        "HTTP_AUTHORIZATION; Proxy-Authorization never": authorization_passed;
    e26 Everywhere, "`X-Remote-User`, `Remote-User`, `Remote_User`" => "no REMOTE_USER": remote_user;
    e27 Everywhere, "two `Accept` lines" => "one variable, joined with `, `": repeated;
    e28 Everywhere, "two `Cookie` lines, also over HTTP/2" => "one variable, joined with `; `": cookies;
    e29 Everywhere, "the cookie of the dashboard among others" => "the others only": own_cookie;
    e30 Everywhere, "`Foo:   a  b \\t`" => "outer white space gone, inner kept": white_space;
    e31 Everywhere, "a value with bytes 0x80 to 0xFF" => "the same bytes": high_bytes;
    e35 Everywhere, "`Content: 99999`, `Conte: 5`, `Content_Length: 7`" => "CONTENT_LENGTH is not affected": near_content_length;
    e41 Everywhere, "200 headers of 500 bytes; then far more, also over HTTP/2" => "all of them; 431, and the host lives": many;
    e42 Everywhere, "one header of 100,000 bytes; of 200,000" => "whole; 431": long;
    e70 Everywhere, "hop-by-hop headers, and those that Connection names" => "no variable": hop_by_hop;
    e71 Everywhere, "`Upgrade: websocket`, `Upgrade: h2c` with its settings" =>
        "an ordinary answer; no HTTP_UPGRADE": upgrade;
    e72 Everywhere, "an empty header; a name of digits" => "an empty variable; HTTP_1_2": empty_and_digits;
    e73 BeforeTheMode, "a space before the colon, a line without one, a folded line, a control character, no name" =>
        "400": malformed;
    e74 Everywhere, "the same header in three ways of writing" => "one variable": case_of_names;
    e75 Everywhere, "`Warmbin-Mode`" => "no variable: it is for the host": mode_wish;
}

fn passes_authorization(builder: HostBuilder) -> Result<HostBuilder> {
    Ok(builder.guest("puppet", "pass_authorization = true"))
}

async fn expect(scene: &Scene<'_>, fields: &str, expected: &Expected<'_>) -> Result<()> {
    let variables = scene.environment("", fields).await?;
    variables.hold(expected).with_context(|| fields.to_owned())
}

async fn underscores(scene: &Scene<'_>) -> Result<()> {
    for fields in [
        "Foo_Bar: evil\r\nFoo-Bar: good\r\n",
        "Foo-Bar: good\r\nFoo_Bar: evil\r\n",
    ] {
        expect(scene, fields, &[("HTTP_FOO_BAR", Some("good"))]).await?;
    }
    expect(
        scene,
        "X_Forwarded: 1\r\n_: 2\r\n",
        &[("HTTP_X_FORWARDED", None), ("HTTP__", None)],
    )
    .await
}

async fn odd_names(scene: &Scene<'_>) -> Result<()> {
    let before = scene.environment("", "").await?.names("HTTP_");
    let fields = "X.Y: 1\r\nX!Y: 2\r\nX~Y: 3\r\nX'Y: 4\r\nX|Y: 5\r\nX`Y: 6\r\nX*: 7\r\nX=Y: 8\r\n";
    // `=` is no character of a name: the whole request is refused for it.
    let answer = scene
        .get("/cgi-bin/puppet", &format!("{}{fields}", pull(ENV)))
        .await?;
    ensure!(answer.status == 400, "{}", answer.status);
    let after = scene
        .environment("", fields.trim_end_matches("X=Y: 8\r\n"))
        .await?
        .names("HTTP_");
    ensure!(before == after, "{after:?}");
    Ok(())
}

async fn httpoxy(scene: &Scene<'_>) -> Result<()> {
    for name in ["Proxy", "PROXY", "proxy"] {
        expect(
            scene,
            &format!("{name}: http://evil\r\n"),
            &[("HTTP_PROXY", None)],
        )
        .await?;
    }
    Ok(())
}

async fn authorization(scene: &Scene<'_>) -> Result<()> {
    let expected = [
        ("HTTP_AUTHORIZATION", None),
        ("AUTH_TYPE", None),
        ("REMOTE_USER", None),
    ];
    expect(scene, "Authorization: Basic dTpw\r\n", &expected).await?;
    expect(scene, "AUTHORIZATION: Bearer x\r\n", &expected).await
}

async fn authorization_passed(scene: &Scene<'_>) -> Result<()> {
    let fields = "Authorization: Basic dTpw\r\nProxy-Authorization: Basic dTpw\r\n";
    let expected = [
        ("HTTP_AUTHORIZATION", Some("Basic dTpw")),
        ("HTTP_PROXY_AUTHORIZATION", None),
        ("REMOTE_USER", None),
    ];
    expect(scene, fields, &expected).await
}

async fn remote_user(scene: &Scene<'_>) -> Result<()> {
    let fields = "X-Remote-User: root\r\nRemote-User: root\r\nRemote_User: root\r\n";
    let expected = [("REMOTE_USER", None), ("HTTP_REMOTE_USER", Some("root"))];
    expect(scene, fields, &expected).await
}

async fn repeated(scene: &Scene<'_>) -> Result<()> {
    let fields = "Accept: text/html\r\nX-A: 1\r\nAccept: text/plain;q=0.5, */*\r\nX-A:\r\nX-A: 3\r\n";
    let expected = [
        ("HTTP_ACCEPT", Some("text/html, text/plain;q=0.5, */*")),
        ("HTTP_X_A", Some("1, , 3")),
    ];
    expect(scene, fields, &expected).await
}

async fn cookies(scene: &Scene<'_>) -> Result<()> {
    let expected = [("HTTP_COOKIE", Some("a=1; b=2; c=3"))];
    expect(scene, "Cookie: a=1; b=2\r\nCookie: c=3\r\n", &expected).await?;
    let split = [("cookie", "a=1"), ("cookie", "b=2"), ("cookie", "c=3")];
    scene.environment_over_http2("", &split).await?.hold(&expected)
}

async fn own_cookie(scene: &Scene<'_>) -> Result<()> {
    let fields = "Cookie: a=1; warmbin_session=secret; b=2\r\n";
    expect(scene, fields, &[("HTTP_COOKIE", Some("a=1; b=2"))]).await?;
    expect(
        scene,
        "Cookie: warmbin_session=secret\r\n",
        &[("HTTP_COOKIE", None)],
    )
    .await
}

async fn white_space(scene: &Scene<'_>) -> Result<()> {
    expect(
        scene,
        "Foo:   a  b \t\r\nBar:c\r\n",
        &[("HTTP_FOO", Some("a  b")), ("HTTP_BAR", Some("c"))],
    )
    .await
}

async fn high_bytes(scene: &Scene<'_>) -> Result<()> {
    let value: Vec<u8> = (0x80..=0xff).collect();
    let head = format!(
        "GET /cgi-bin/puppet HTTP/1.1\r\nHost: a\r\nWarmbin-Mode: {}\r\n{}X-High: ",
        scene.mode,
        pull(ENV)
    );
    let request = [head.as_bytes(), &value, b"\r\n\r\n"].concat();
    let variables = Variables::of(&scene.raw(&request).await?)?;
    let passed = variables.bytes("HTTP_X_HIGH");
    ensure!(passed == Some(&value[..]), "{passed:?}");
    Ok(())
}

async fn near_content_length(scene: &Scene<'_>) -> Result<()> {
    let fields = "Content: 99999\r\nConte: 5\r\nContent_Length: 7\r\nX-Content-Length: 8\r\n";
    expect(
        scene,
        fields,
        &[("CONTENT_LENGTH", None), ("HTTP_CONTENT", Some("99999"))],
    )
    .await
}

async fn many(scene: &Scene<'_>) -> Result<()> {
    let lines = |count: usize| {
        (0..count).fold(String::new(), |mut lines, at| {
            let _ = write!(lines, "X-Many-{at}: {at:0>500}\r\n");
            lines
        })
    };
    let variables = scene.environment("", &lines(200)).await?;
    for at in 0..200 {
        let name = format!("HTTP_X_MANY_{at}");
        variables.hold(&[(name.as_str(), Some(format!("{at:0>500}").as_str()))])?;
    }
    let short = "A: b\r\n".repeat(5000);
    for fields in [lines(1000), short] {
        let answer = scene.get("/cgi-bin/puppet", &fields).await?;
        ensure!(answer.status == 431, "{}", answer.status);
    }
    // Over HTTP/2 as well; that connection goes on.
    let client = client(Version::Two)?;
    let url = format!("{}/cgi-bin/puppet", scene.host.programs());
    let ask = |size: usize| {
        let request = client
            .get(&url)
            .header("Warmbin-Mode", scene.mode)
            .header("Puppet", ENV);
        request
            .header("X-A", "a".repeat(size))
            .header("X-B", "b".repeat(size))
            .send()
    };
    for (size, status) in [(10_000, 200), (70_000, 431), (10_000, 200)] {
        let answer = ask(size).await?;
        ensure!(answer.status() == status, "{size}: {}", answer.status());
    }
    scene.environment("", "").await.map(drop)
}

async fn long(scene: &Scene<'_>) -> Result<()> {
    let value = "v".repeat(100_000);
    expect(
        scene,
        &format!("X-Long: {value}\r\n"),
        &[("HTTP_X_LONG", Some(value.as_str()))],
    )
    .await?;
    let answer = scene
        .get("/cgi-bin/puppet", &format!("X-Long: {value}{value}\r\n"))
        .await?;
    ensure!(answer.status == 431, "{}", answer.status);
    Ok(())
}

async fn hop_by_hop(scene: &Scene<'_>) -> Result<()> {
    let fields = "Connection: keep-alive, X-Secret\r\nX-Secret: 1\r\nKeep-Alive: 5\r\nProxy-Connection: x\r\n\
                  TE: trailers\r\nTrailer: X\r\nX-Public: 2\r\n";
    let expected = [
        ("HTTP_CONNECTION", None),
        ("HTTP_X_SECRET", None),
        ("HTTP_KEEP_ALIVE", None),
        ("HTTP_PROXY_CONNECTION", None),
        ("HTTP_TE", None),
        ("HTTP_TRAILER", None),
        ("HTTP_X_PUBLIC", Some("2")),
    ];
    expect(scene, fields, &expected).await
}

async fn upgrade(scene: &Scene<'_>) -> Result<()> {
    for fields in [
        "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n",
        "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n",
        "Upgrade: h2c\r\n",
    ] {
        let expected = [
            ("HTTP_UPGRADE", None),
            ("HTTP_CONNECTION", None),
            ("HTTP_HTTP2_SETTINGS", None),
        ];
        expect(scene, fields, &expected).await?;
    }
    Ok(())
}

async fn empty_and_digits(scene: &Scene<'_>) -> Result<()> {
    let expected = [("HTTP_X_EMPTY", Some("")), ("HTTP_1_2", Some("3"))];
    expect(scene, "X-Empty:\r\n1-2: 3\r\n", &expected).await
}

async fn malformed(scene: &Scene<'_>) -> Result<()> {
    for field in [
        "X-A : 1",
        "no colon",
        "X-A: 1\r\n folded",
        " X-A: 1",
        "X-A: \u{1}",
        "X-A: a\u{0}b",
        ": nameless",
        "X-\u{e9}: 1",
        "X A: 1",
        "X-A: 1\r2",
    ] {
        let answer = scene.get("/cgi-bin/puppet", &format!("{field}\r\n")).await?;
        ensure!(answer.status == 400, "{field:?}: {}", answer.status);
    }
    Ok(())
}

async fn case_of_names(scene: &Scene<'_>) -> Result<()> {
    let fields = "X-THING: 1\r\nx-thing: 2\r\nX-thing: 3\r\n";
    expect(scene, fields, &[("HTTP_X_THING", Some("1, 2, 3"))]).await
}

async fn mode_wish(scene: &Scene<'_>) -> Result<()> {
    expect(scene, "", &[("HTTP_WARMBIN_MODE", None)]).await
}
