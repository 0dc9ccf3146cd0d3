//! Who a program is told is asking: the connection, and what trusted proxies say (RFC 3875 §4.1.8).

use anyhow::{Context, Result, ensure};
use warmbin_tests::{Connection, HostBuilder, TOKEN};

use super::Where::Everywhere;
use super::scene::{ENV, Expected, Scene, Variables, pull, puppet};
use super::section;

section! {
    "The environment: the client";
    e36 Everywhere, "a request from 127.0.0.1" =>
        "REMOTE_ADDR without a port, REMOTE_PORT the client's, REMOTE_HOST the same address": direct;
    e37 Everywhere, on behind_a_proxy, "`X-Forwarded-For` through a trusted proxy" =>
        "the right-most address that is no proxy, whatever stands left of it": chain;
    e76 Everywhere, on behind_a_stranger, "the same from a peer that is not trusted" =>
        "REMOTE_ADDR is the peer; scheme and port are the listener's": untrusted;
    e77 Everywhere, on behind_a_proxy, "rubbish in the chain" =>
        "the last address that could be read": rubbish;
    e78 Everywhere, on behind_a_proxy, "`X-Forwarded-Proto: https`, with and without `X-Forwarded-Port`" =>
        "HTTPS is `on`, REQUEST_SCHEME `https`, SERVER_PORT as told or 443": scheme;
    e79 Everywhere, on behind_a_proxy, "those headers twice, or in lists" => "the proxy's own word, which comes last": scheme_twice;
}

fn trusting(builder: HostBuilder, networks: &str) -> Result<HostBuilder> {
    let settings = format!("trusted_proxies = [{networks}]\nmode_override = \"authenticated\"");
    puppet(builder.setting(&settings))
}

fn behind_a_proxy(builder: HostBuilder) -> Result<HostBuilder> {
    trusting(builder, r#""127.0.0.0/8", "10.0.0.0/8", "2001:db8::/32""#)
}

fn behind_a_stranger(builder: HostBuilder) -> Result<HostBuilder> {
    trusting(builder, r#""10.0.0.0/8""#)
}

/// Asks with `fields`; the mode is picked with the token, as a forwarded request may not pick one without.
async fn expect(scene: &Scene<'_>, fields: &str, expected: &Expected<'_>) -> Result<()> {
    let fields = format!("Authorization: Bearer {TOKEN}\r\n{fields}");
    let variables = scene.environment("", &fields).await?;
    variables.hold(expected).with_context(|| fields.clone())
}

async fn direct(scene: &Scene<'_>) -> Result<()> {
    let stream = tokio::net::TcpStream::connect(scene.host.programs().trim_start_matches("http://")).await?;
    let port = stream.local_addr()?.port().to_string();
    let mut connection = Connection::over(stream);
    let request = scene.request("GET /cgi-bin/puppet HTTP/1.1", &pull(ENV));
    connection.send(request.as_bytes()).await?;
    let variables = Variables::of(&connection.answer(false).await?)?;
    variables.hold(&[("REMOTE_ADDR", Some("127.0.0.1")), ("REMOTE_PORT", Some(&port))])?;
    let name = variables.get("REMOTE_HOST");
    ensure!(name.is_none_or(|name| name == "127.0.0.1"), "{name:?}");
    Ok(())
}

async fn chain(scene: &Scene<'_>) -> Result<()> {
    for (lines, client) in [
        (&["1.2.3.4"][..], "1.2.3.4"),
        (&["6.6.6.6, 1.2.3.4"], "1.2.3.4"),
        (&["6.6.6.6, 1.2.3.4, 10.0.0.7"], "1.2.3.4"),
        (&["6.6.6.6,1.2.3.4,10.0.0.7,127.0.0.9"], "1.2.3.4"),
        (&["6.6.6.6", "1.2.3.4", "10.0.0.7"], "1.2.3.4"),
        (&["10.0.0.8, 10.0.0.7"], "10.0.0.8"),
        (&["1.2.3.4:5678"], "1.2.3.4"),
        (&["2a00:1::5"], "2a00:1::5"),
        (&["[2a00:1::5]:443, [2001:db8::7]"], "2a00:1::5"),
        (&["::ffff:1.2.3.4"], "1.2.3.4"),
    ] {
        let fields = format!("X-Forwarded-For: {}\r\n", lines.join("\r\nX-Forwarded-For: "));
        // The port is that of the proxy's connection, which is not the client's.
        let expected = [("REMOTE_ADDR", Some(client)), ("REMOTE_PORT", None)];
        expect(scene, &fields, &expected).await?;
    }
    Ok(())
}

async fn untrusted(scene: &Scene<'_>) -> Result<()> {
    let port = scene.host.programs().rsplit(':').next();
    let fields = "X-Forwarded-For: 1.2.3.4\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Port: 443\r\nForwarded: for=1.2.3.4\r\n";
    let expected = [
        ("REMOTE_ADDR", Some("127.0.0.1")),
        ("SERVER_PORT", port),
        ("HTTPS", None),
        ("REQUEST_SCHEME", Some("http")),
        // What was sent may be looked at; it is only not believed.
        ("HTTP_X_FORWARDED_FOR", Some("1.2.3.4")),
    ];
    expect(scene, fields, &expected).await
}

async fn rubbish(scene: &Scene<'_>) -> Result<()> {
    for (value, client) in [
        ("", "127.0.0.1"),
        ("unknown", "127.0.0.1"),
        ("1.2.3.4, unknown", "127.0.0.1"),
        ("1.2.3.4, , 10.0.0.7", "10.0.0.7"),
        ("1.2.3.4,", "127.0.0.1"),
        ("1.2.3.400", "127.0.0.1"),
        ("01.2.3.4", "127.0.0.1"),
        ("<script>", "127.0.0.1"),
        ("1.2.3.4; x", "127.0.0.1"),
        ("[::1", "127.0.0.1"),
        ("fe80::1%eth0", "127.0.0.1"),
    ] {
        let fields = format!("X-Forwarded-For: {value}\r\n");
        expect(scene, &fields, &[("REMOTE_ADDR", Some(client))]).await?;
    }
    Ok(())
}

async fn scheme(scene: &Scene<'_>) -> Result<()> {
    let own = scene.host.programs().rsplit(':').next();
    for (fields, https, port) in [
        ("X-Forwarded-Proto: https\r\n", true, Some("443")),
        ("X-Forwarded-Proto: HTTPS\r\n", true, Some("443")),
        (
            "X-Forwarded-Proto: https\r\nX-Forwarded-Port: 8443\r\n",
            true,
            Some("8443"),
        ),
        ("X-Forwarded-Proto: http\r\n", false, own),
        (
            "X-Forwarded-Proto: http\r\nX-Forwarded-Port: 80\r\n",
            false,
            Some("80"),
        ),
        ("X-Forwarded-Proto: gopher\r\nX-Forwarded-Port: x\r\n", false, own),
        ("X-Forwarded-Port: 0\r\n", false, own),
        ("X-Forwarded-Port: 65536\r\n", false, own),
        ("X-Forwarded-Port: +81\r\n", false, own),
    ] {
        let expected = [
            ("HTTPS", https.then_some("on")),
            ("REQUEST_SCHEME", Some(if https { "https" } else { "http" })),
            ("SERVER_PORT", port),
        ];
        expect(scene, fields, &expected).await?;
    }
    Ok(())
}

async fn scheme_twice(scene: &Scene<'_>) -> Result<()> {
    for (fields, scheme) in [
        ("X-Forwarded-Proto: https\r\nX-Forwarded-Proto: http\r\n", "http"),
        ("X-Forwarded-Proto: http\r\nX-Forwarded-Proto: https\r\n", "https"),
        ("X-Forwarded-Proto: https, http\r\n", "http"),
    ] {
        expect(scene, fields, &[("REQUEST_SCHEME", Some(scheme))]).await?;
    }
    Ok(())
}
