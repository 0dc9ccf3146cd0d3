//! What a program is told of the request line and of the host (RFC 3875 §4.1).

use anyhow::{Context, Result, ensure};
use warmbin_tests::HostBuilder;

use super::Where::{BeforeTheMode, Everywhere, Native};
use super::scene::{ENV, Expected, Scene, Variables, pull, puppet, puppet_as};
use super::section;

/// A module has no working directory but `/`, and no folder of the host's to stand in.
const NO_FOLDER: &str = "A module sees no folder that it was not given: its working directory is `/`.";

/// A module starts no processes.
const NO_PROCESS: &str = "A module cannot start other programs, so PATH finds it nothing.";

section! {
    "The environment: request and host";
    e01 Everywhere, "a GET without query, body or extra path" =>
        "GATEWAY_INTERFACE and REQUEST_METHOD, QUERY_STRING present and empty, no CONTENT_LENGTH, CONTENT_TYPE, \
         PATH_INFO, PATH_TRANSLATED": a_bare_get;
    e02 Everywhere, "`?a=1&b=%20x`" => "QUERY_STRING byte for byte, still encoded": query_as_sent;
    e04 Everywhere, "a query with slashes, plain and encoded" => "kept as it is": slashes_in_the_query;
    e05 Everywhere, on documents, "`PROGRAM/foo`" =>
        "SCRIPT_NAME ends before it, PATH_INFO is `/foo`, PATH_TRANSLATED is that below DOCUMENT_ROOT": extra_path;
    e06 Everywhere, "`PROGRAM/`" => "PATH_INFO is `/`": only_a_slash;
    e07 Everywhere, "`PROGRAM/a%20b%3Fc`" => "PATH_INFO is decoded, and its `?` begins no query": decoded_once;
    e08 Everywhere, on slash_policies, "`%2F` in the extra path" =>
        "404; decoded or left as it is where `encoded_slashes` says so": encoded_slashes;
    e09 Everywhere, "`PROGRAM/a//b/`" => "slashes of the extra path are not merged": repeated_slashes;
    e10 Everywhere, "`..` in the extra path, plain and encoded" =>
        "resolved before the path is cut; never above the root, never another program's files": dots;
    e11 Everywhere, "`/cgi-bin/../cgi-bin/PROGRAM` and `/../…`" => "200 once resolved; 400 above the root": dots_before;
    e13 Everywhere, "`//cgi-bin//PROGRAM//a`" => "SCRIPT_NAME without doubled slashes, PATH_INFO with": doubled_slashes;
    e14 Everywhere, "`Host: Example.COM:8081`" =>
        "SERVER_NAME `example.com`, the listener's SERVER_PORT, HTTP_HOST as sent": host_with_port;
    e15 Everywhere, "`Host: [::1]:8081`" => "SERVER_NAME `[::1]`": host_of_ipv6;
    e17 Everywhere, "an absolute target and another Host" => "the target's authority is SERVER_NAME and HTTP_HOST": absolute_form;
    e18 BeforeTheMode, "a Host with a space, with markup, twice, or none in HTTP/1.1, also beside an absolute target" => "400": bad_hosts;
    e19 Everywhere, "HTTP/1.0, 1.1 and 2" => "SERVER_PROTOCOL says which": protocols;
    e32 Everywhere, "a POST of 3 bytes with a type" =>
        "CONTENT_LENGTH and CONTENT_TYPE, and neither as HTTP_…": length_and_type;
    e33 Everywhere, "a POST of no bytes" => "CONTENT_LENGTH 0 or unset; standard input at its end": no_bytes;
    e38 Native(NO_PROCESS), on path_users, "`#!/usr/bin/env sh`, no PATH configured" => "runs: there is a PATH": a_path;
    e39 Everywhere, on configured, "`env` of the program, a variable of the host's, a header of the same name" =>
        "what is configured; nothing of the host's own environment; the header is HTTP_… only": configured_variables;
    e40 Everywhere, on configured, "`env` names a variable of the protocol" =>
        "the protocol's value, and a warning at the start": no_shadow;
    e43 Native(NO_FOLDER), on folders, "a program that prints its working directory" =>
        "the program's folder": own_folder;
    e44 Native(NO_FOLDER), on folders, "the same with `working_dir` set" => "that folder": working_dir;
    e52 Everywhere, "HTTP/1.0 without a Host; HTTP/1.1 with an empty one" => "SERVER_NAME is the listener's address": no_host;
    e53 BeforeTheMode, "hosts with a path, a user, an open bracket, a port that is none, empty labels" => "400": worse_hosts;
    e54 Everywhere, "`/cgi-bin/./PROGRAM/%61?%62`; an absolute target" =>
        "REQUEST_URI is path and query as sent, and no more": request_uri;
    e55 Everywhere, "`PROGRAM/%C3%A9%FF%0A`" => "PATH_INFO has those bytes": any_byte;
    e56 BeforeTheMode, "`%`, `%4`, `%zz` and `%00` in the path" => "400": bad_encodings;
    e57 Everywhere, "the same in the query" => "passed as it is": any_query;
    e58 Everywhere, "`Https: on`, `Request-Method: x` and the like" => "HTTP_… only: the protocol's are not set by headers": no_forgery;
    e59 Everywhere, "an X-Request-Id of the client's" => "UNIQUE_ID, and back in the response": request_id;
    e60 Everywhere, "HTTP/2 with an authority" => "SERVER_NAME and HTTP_HOST are made of it": authority;
    e62 Everywhere, "a query of 60,000 bytes; of 70,000" => "whole; 414": long_query;
    e61 Everywhere, "a request on loopback" =>
        "SERVER_ADDR and REMOTE_ADDR `127.0.0.1`, SERVER_SOFTWARE `warmbin/…`, REQUEST_SCHEME `http`, no HTTPS": the_rest;
}

fn folders(builder: HostBuilder) -> Result<HostBuilder> {
    const PWD: &str = "#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\n%s' \"$(pwd -P)\"\n";
    builder
        .script("pwd", PWD, "")?
        .script("pwd-elsewhere", PWD, "working_dir = \"/usr\"")
}

fn documents(builder: HostBuilder) -> Result<HostBuilder> {
    std::fs::create_dir(builder.folder().join("site"))?;
    puppet(builder.setting("documents = \"site\""))
}

fn slash_policies(builder: HostBuilder) -> Result<HostBuilder> {
    let builder = puppet_as(builder, "decodes", "encoded_slashes = \"decode\"");
    puppet(puppet_as(builder, "keeps", "encoded_slashes = \"keep\""))
}

fn path_users(builder: HostBuilder) -> Result<HostBuilder> {
    const ENV: &str = "#!/usr/bin/env sh\nprintf 'Content-Type: text/plain\\n\\n'; env\n";
    builder
        .script("default-path", ENV, "")?
        .script("own-path", ENV, "env = { PATH = \"/bin:/opt/none\" }")
}

fn configured(builder: HostBuilder) -> Result<HostBuilder> {
    Ok(builder.guest(
        "puppet",
        "env = { FOO = \"bar\", REMOTE_USER = \"robot\", REMOTE_ADDR = \"6.6.6.6\", HTTP_X = \"y\", HTTPS = \"on\" }",
    ))
}

/// The environment for a request that is sent as it is.
async fn raw_environment(scene: &Scene<'_>, request: &str) -> Result<Variables> {
    Variables::of(&scene.raw(request.as_bytes()).await?)
}

async fn expect(scene: &Scene<'_>, below: &str, expected: &Expected<'_>) -> Result<()> {
    scene
        .environment(below, "")
        .await?
        .hold(expected)
        .context(below.to_owned())
}

async fn a_bare_get(scene: &Scene<'_>) -> Result<()> {
    let expected = [
        ("GATEWAY_INTERFACE", Some("CGI/1.1")),
        ("REQUEST_METHOD", Some("GET")),
        ("QUERY_STRING", Some("")),
        ("SCRIPT_NAME", Some("/cgi-bin/puppet")),
        ("CONTENT_LENGTH", None),
        ("CONTENT_TYPE", None),
        ("PATH_INFO", None),
        ("PATH_TRANSLATED", None),
    ];
    expect(scene, "", &expected).await
}

async fn query_as_sent(scene: &Scene<'_>) -> Result<()> {
    expect(scene, "?a=1&b=%20x", &[("QUERY_STRING", Some("a=1&b=%20x"))]).await
}

async fn slashes_in_the_query(scene: &Scene<'_>) -> Result<()> {
    let query = "k=aa%2F%2Fbb&//q//p=//&x=/../y?z";
    expect(
        scene,
        &format!("?{query}"),
        &[("QUERY_STRING", Some(query)), ("PATH_INFO", None)],
    )
    .await
}

async fn extra_path(scene: &Scene<'_>) -> Result<()> {
    let root = scene.host.folder().join("site");
    let translated = format!("{}/foo", root.display());
    let expected = [
        ("SCRIPT_NAME", Some("/cgi-bin/puppet")),
        ("PATH_INFO", Some("/foo")),
        ("PATH_TRANSLATED", Some(translated.as_str())),
        ("DOCUMENT_ROOT", root.to_str()),
    ];
    expect(scene, "/foo", &expected).await
}

async fn only_a_slash(scene: &Scene<'_>) -> Result<()> {
    let expected = [("SCRIPT_NAME", Some("/cgi-bin/puppet")), ("PATH_INFO", Some("/"))];
    expect(scene, "/", &expected).await
}

async fn decoded_once(scene: &Scene<'_>) -> Result<()> {
    let expected = [("PATH_INFO", Some("/a b?c")), ("QUERY_STRING", Some(""))];
    expect(scene, "/a%20b%3Fc", &expected).await?;
    expect(scene, "/a%2525%3b+", &[("PATH_INFO", Some("/a%25;+"))]).await
}

async fn encoded_slashes(scene: &Scene<'_>) -> Result<()> {
    for below in ["/a%2Fb", "/%2f..%2f..%2fetc/passwd", "%2Fa"] {
        let answer = scene.get(&format!("/cgi-bin/puppet{below}"), &pull(ENV)).await?;
        ensure!(answer.status == 404, "{below}: {}", answer.status);
    }
    for (name, info) in [("decodes", "/a/b"), ("keeps", "/a%2Fb")] {
        let answer = scene.get(&format!("/cgi-bin/{name}/a%2Fb"), &pull(ENV)).await?;
        Variables::of(&answer)?.hold(&[("PATH_INFO", Some(info))])?;
    }
    // Decoding must not lead out of the program.
    let answer = scene
        .get("/cgi-bin/decodes/a%2F..%2F..%2F..%2Fx", &pull(ENV))
        .await?;
    ensure!(answer.status == 404, "{}", answer.status);
    Ok(())
}

async fn repeated_slashes(scene: &Scene<'_>) -> Result<()> {
    expect(scene, "/a//b/", &[("PATH_INFO", Some("/a//b/"))]).await?;
    expect(scene, "//", &[("PATH_INFO", Some("//"))]).await
}

async fn dots(scene: &Scene<'_>) -> Result<()> {
    for (below, info) in [
        ("/a/../b", "/b"),
        ("/a/%2e%2E/b", "/b"),
        ("/a/./b/.", "/a/b/"),
        ("/a/..", "/"),
        ("/a/...", "/a/..."),
        ("/..a", "/..a"),
    ] {
        expect(scene, below, &[("PATH_INFO", Some(info))]).await?;
    }
    for (below, status) in [
        ("/../none", 404),
        ("/../../../etc/passwd", 400),
        ("/%2e%2e/%2e%2e/etc/passwd", 404),
    ] {
        let answer = scene.get(&format!("/cgi-bin/puppet{below}"), &pull(ENV)).await?;
        ensure!(answer.status == status, "{below}: {}", answer.status);
    }
    Ok(())
}

async fn dots_before(scene: &Scene<'_>) -> Result<()> {
    let answer = scene.get("/cgi-bin/../cgi-bin/puppet/x", &pull(ENV)).await?;
    let expected = [
        ("SCRIPT_NAME", Some("/cgi-bin/puppet")),
        ("PATH_INFO", Some("/x")),
    ];
    Variables::of(&answer)?.hold(&expected)?;
    let answer = scene.get("/../cgi-bin/puppet", &pull(ENV)).await?;
    ensure!(answer.status == 400, "{}", answer.status);
    Ok(())
}

async fn doubled_slashes(scene: &Scene<'_>) -> Result<()> {
    let answer = scene.get("//cgi-bin//puppet//a", &pull(ENV)).await?;
    let expected = [
        ("SCRIPT_NAME", Some("/cgi-bin/puppet")),
        ("PATH_INFO", Some("//a")),
    ];
    Variables::of(&answer)?.hold(&expected)
}

async fn host_with_port(scene: &Scene<'_>) -> Result<()> {
    let port = scene.host.programs().rsplit(':').next();
    for (host, name) in [
        ("Example.COM:8081", "example.com"),
        ("example.com", "example.com"),
        ("example.com.", "example.com"),
        ("10.1.2.3:", "10.1.2.3"),
        ("under_score.example:1", "under_score.example"),
    ] {
        let request = scene.request_to(host, "GET /cgi-bin/puppet HTTP/1.1", &pull(ENV));
        let expected = [
            ("SERVER_NAME", Some(name)),
            ("SERVER_PORT", port),
            ("HTTP_HOST", Some(host)),
        ];
        raw_environment(scene, &request).await?.hold(&expected)?;
    }
    Ok(())
}

async fn host_of_ipv6(scene: &Scene<'_>) -> Result<()> {
    for (host, name) in [("[::1]:8081", "[::1]"), ("[2001:DB8::A]", "[2001:db8::a]")] {
        let request = scene.request_to(host, "GET /cgi-bin/puppet HTTP/1.1", &pull(ENV));
        let expected = [("SERVER_NAME", Some(name)), ("HTTP_HOST", Some(host))];
        raw_environment(scene, &request).await?.hold(&expected)?;
    }
    Ok(())
}

async fn absolute_form(scene: &Scene<'_>) -> Result<()> {
    for target in [
        "http://Foo:81/cgi-bin/puppet?q",
        "HTTPS://Foo:81/cgi-bin/puppet?q",
    ] {
        let request = scene.request_to("bar", &format!("GET {target} HTTP/1.1"), &pull(ENV));
        let expected = [
            ("SERVER_NAME", Some("foo")),
            ("HTTP_HOST", Some("Foo:81")),
            ("SCRIPT_NAME", Some("/cgi-bin/puppet")),
            ("QUERY_STRING", Some("q")),
            ("REQUEST_SCHEME", Some("http")),
        ];
        raw_environment(scene, &request).await?.hold(&expected)?;
    }
    Ok(())
}

/// Each of these hosts, sent as it is, is a 400.
async fn refuse_hosts(scene: &Scene<'_>, hosts: &[&[u8]]) -> Result<()> {
    for host in hosts {
        let mut request = b"GET /cgi-bin/puppet HTTP/1.1\r\nHost: ".to_vec();
        request.extend_from_slice(host);
        request.extend_from_slice(b"\r\nConnection: close\r\n\r\n");
        let answer = scene.raw(&request).await?;
        let host = String::from_utf8_lossy(host);
        ensure!(answer.status == 400, "{host:?}: {}", answer.status);
        ensure!(!answer.text().contains("<script>"), "{}", answer.text());
    }
    Ok(())
}

async fn bad_hosts(scene: &Scene<'_>) -> Result<()> {
    refuse_hosts(scene, &[b"a b", b"a<script>", b"a\r\nHost: b", b"a\r\nHost: a"]).await?;
    for request in [
        "GET /cgi-bin/puppet HTTP/1.1\r\n\r\n",
        "GET http://a/cgi-bin/puppet HTTP/1.1\r\n\r\n",
        "GET http://a/cgi-bin/puppet HTTP/1.1\r\nHost: a b\r\n\r\n",
        "GET http://a/cgi-bin/puppet HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n",
        "GET /cgi-bin/puppet HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n",
    ] {
        let answer = scene.raw(request.as_bytes()).await?;
        ensure!(answer.status == 400, "{request}: {}", answer.status);
    }
    Ok(())
}

async fn worse_hosts(scene: &Scene<'_>) -> Result<()> {
    let hosts: [&[u8]; 17] = [
        b"a/b", b"a?b", b"a#b", b"user@a", b"a:b", b"a:80:80", b"a:65536", b"a:-1", b"[::1", b"[::1]x",
        b"[zz]", b"::1", b"..", b"a..b", b"a%41", b"a\"b", b"\xff",
    ];
    refuse_hosts(scene, &hosts).await?;
    for target in ["http://user@a/cgi-bin/puppet", "http://a..b/cgi-bin/puppet"] {
        let answer = scene
            .raw(scene.request(&format!("GET {target} HTTP/1.1"), "").as_bytes())
            .await?;
        ensure!(answer.status == 400, "{target}: {}", answer.status);
    }
    Ok(())
}

async fn protocols(scene: &Scene<'_>) -> Result<()> {
    for version in ["HTTP/1.0", "HTTP/1.1"] {
        let request = scene.request(&format!("GET /cgi-bin/puppet {version}"), &pull(ENV));
        raw_environment(scene, &request)
            .await?
            .hold(&[("SERVER_PROTOCOL", Some(version))])?;
    }
    scene
        .environment_over_http2("", &[])
        .await?
        .hold(&[("SERVER_PROTOCOL", Some("HTTP/2.0"))])
}

async fn length_and_type(scene: &Scene<'_>) -> Result<()> {
    let fields = format!("{}Content-Type: a/b; c=d\r\nContent-Length: 3\r\n", pull(ENV));
    let request = scene.request("POST /cgi-bin/puppet HTTP/1.1", &fields);
    let expected = [
        ("REQUEST_METHOD", Some("POST")),
        ("CONTENT_LENGTH", Some("3")),
        ("CONTENT_TYPE", Some("a/b; c=d")),
        ("HTTP_CONTENT_LENGTH", None),
        ("HTTP_CONTENT_TYPE", None),
    ];
    raw_environment(scene, &format!("{request}abc"))
        .await?
        .hold(&expected)
}

async fn no_bytes(scene: &Scene<'_>) -> Result<()> {
    let fields = format!(
        "{}Content-Length: 0\r\n",
        pull(&format!("{ENV}; out end=; count"))
    );
    let request = scene.request("POST /cgi-bin/puppet HTTP/1.1", &fields);
    let variables = raw_environment(scene, &request).await?;
    let length = variables.get("CONTENT_LENGTH");
    ensure!(length.is_none_or(|length| length == "0"), "{length:?}");
    let end = variables.get("end").unwrap_or_default();
    ensure!(end.starts_with("0 "), "standard input held {end}");
    Ok(())
}

async fn a_path(scene: &Scene<'_>) -> Result<()> {
    let variables = Variables::of(&scene.get("/cgi-bin/default-path", "").await?)?;
    let path = variables.get("PATH").context("no PATH")?;
    ensure!(path.split(':').any(|folder| folder == "/usr/bin"), "{path}");
    Ok(())
}

async fn configured_variables(scene: &Scene<'_>) -> Result<()> {
    let variables = scene.environment("", "Foo: x\r\n").await?;
    variables.hold(&[
        ("FOO", Some("bar")),
        ("HTTP_FOO", Some("x")),
        // The host knows of no users: that is the operator's to say.
        ("REMOTE_USER", Some("robot")),
        // What this test, and so the host, was started with.
        ("HOME", None),
        ("CARGO_MANIFEST_DIR", None),
        ("WARMBIN_ADMIN_TOKEN", None),
    ])?;
    ensure!(variables.names("CARGO").is_empty() && variables.names("WARMBIN").is_empty());
    Ok(())
}

async fn no_shadow(scene: &Scene<'_>) -> Result<()> {
    let expected = [
        ("REMOTE_ADDR", Some("127.0.0.1")),
        ("HTTP_X", None),
        ("HTTPS", None),
    ];
    expect(scene, "", &expected).await?;
    let log = scene.host.log();
    for name in ["REMOTE_ADDR", "HTTP_X", "HTTPS"] {
        ensure!(
            log.contains(&format!("env.{name} of program puppet has no effect")),
            "{name}: {log}"
        );
    }
    Ok(())
}

async fn own_folder(scene: &Scene<'_>) -> Result<()> {
    let answer = scene.get("/cgi-bin/pwd", "").await?;
    let folder = scene.host.folder().canonicalize()?;
    ensure!(answer.text() == folder.to_string_lossy(), "{}", answer.text());
    Ok(())
}

async fn working_dir(scene: &Scene<'_>) -> Result<()> {
    let answer = scene.get("/cgi-bin/pwd-elsewhere", "").await?;
    ensure!(answer.text() == "/usr", "{}", answer.text());
    Ok(())
}

async fn no_host(scene: &Scene<'_>) -> Result<()> {
    let mode = scene.mode;
    let puppet = pull(ENV);
    for request in [
        format!("GET /cgi-bin/puppet HTTP/1.0\r\nWarmbin-Mode: {mode}\r\n{puppet}\r\n"),
        scene.request_to("", "GET /cgi-bin/puppet HTTP/1.1", &puppet),
    ] {
        raw_environment(scene, &request)
            .await?
            .hold(&[("SERVER_NAME", Some("127.0.0.1"))])?;
    }
    Ok(())
}

async fn request_uri(scene: &Scene<'_>) -> Result<()> {
    let target = "/cgi-bin/./puppet/%61?%62";
    for line in [
        format!("GET {target} HTTP/1.1"),
        format!("GET http://a:1{target} HTTP/1.1"),
    ] {
        let request = scene.request(&line, &pull(ENV));
        let expected = [("REQUEST_URI", Some(target)), ("PATH_INFO", Some("/a"))];
        raw_environment(scene, &request).await?.hold(&expected)?;
    }
    Ok(())
}

async fn any_byte(scene: &Scene<'_>) -> Result<()> {
    let variables = scene.environment("/%C3%A9%FF%09", "").await?;
    let info = variables.bytes("PATH_INFO");
    ensure!(info == Some(&b"/\xc3\xa9\xff\t"[..]), "{info:?}");
    Ok(())
}

async fn bad_encodings(scene: &Scene<'_>) -> Result<()> {
    for below in ["/%", "/%4", "/%zz", "/a%00b", "%00", "/%u0041"] {
        let answer = scene.get(&format!("/cgi-bin/puppet{below}"), "").await?;
        ensure!(answer.status == 400, "{below}: {}", answer.status);
    }
    Ok(())
}

async fn any_query(scene: &Scene<'_>) -> Result<()> {
    for query in [
        "%",
        "%4&%zz",
        "a%00b",
        "?",
        "a?b=/../c",
        "&&=&",
        "+",
        "a;b|c`d'$e*",
    ] {
        expect(scene, &format!("?{query}"), &[("QUERY_STRING", Some(query))]).await?;
    }
    Ok(())
}

async fn no_forgery(scene: &Scene<'_>) -> Result<()> {
    let fields = "Https: on\r\nRequest-Method: x\r\nQuery-String: x\r\nScript-Filename: /etc/passwd\r\n\
                  Path: /evil\r\nRemote-Addr: 6.6.6.6\r\nAuth-Type: x\r\nRedirect-Status: 1\r\n";
    let expected = [
        ("HTTPS", None),
        ("HTTP_HTTPS", Some("on")),
        ("REQUEST_METHOD", Some("GET")),
        ("QUERY_STRING", Some("")),
        ("HTTP_SCRIPT_FILENAME", Some("/etc/passwd")),
        ("HTTP_PATH", Some("/evil")),
        ("REMOTE_ADDR", Some("127.0.0.1")),
        ("AUTH_TYPE", None),
        ("REDIRECT_STATUS", Some("200")),
    ];
    let variables = scene.environment("", fields).await?;
    ensure!(variables.get("PATH") != Some("/evil"));
    ensure!(variables.get("SCRIPT_FILENAME") != Some("/etc/passwd"));
    variables.hold(&expected)
}

async fn request_id(scene: &Scene<'_>) -> Result<()> {
    let fields = format!("{}X-Request-Id: abc-1.2_3\r\n", pull(ENV));
    let answer = scene.get("/cgi-bin/puppet", &fields).await?;
    ensure!(answer.header("x-request-id") == Some("abc-1.2_3"), "{answer:?}");
    Variables::of(&answer)?.hold(&[("UNIQUE_ID", Some("abc-1.2_3"))])?;
    let fields = format!("{}X-Request-Id: a b\r\n", pull(ENV));
    let answer = scene.get("/cgi-bin/puppet", &fields).await?;
    Variables::of(&answer)?.hold(&[("UNIQUE_ID", answer.header("x-request-id"))])
}

async fn authority(scene: &Scene<'_>) -> Result<()> {
    let at = scene.host.programs().trim_start_matches("http://").to_owned();
    let expected = [
        ("SERVER_NAME", Some("127.0.0.1")),
        ("HTTP_HOST", Some(at.as_str())),
        ("PATH_INFO", Some("/x y")),
        ("QUERY_STRING", Some("z=%20")),
    ];
    scene
        .environment_over_http2("/x%20y?z=%20", &[])
        .await?
        .hold(&expected)
}

async fn long_query(scene: &Scene<'_>) -> Result<()> {
    let query = "q".repeat(60_000);
    expect(scene, &format!("?{query}"), &[("QUERY_STRING", Some(&query))]).await?;
    let answer = scene.get(&format!("/cgi-bin/puppet?{query}{query}"), "").await?;
    ensure!(answer.status == 414, "{}", answer.status);
    Ok(())
}

async fn the_rest(scene: &Scene<'_>) -> Result<()> {
    let variables = scene.environment("", "").await?;
    let software = variables.get("SERVER_SOFTWARE").unwrap_or_default();
    ensure!(software.starts_with("warmbin/"), "{software}");
    variables.hold(&[
        ("SERVER_ADDR", Some("127.0.0.1")),
        ("REMOTE_ADDR", Some("127.0.0.1")),
        ("REQUEST_SCHEME", Some("http")),
        ("HTTPS", None),
        ("REMOTE_IDENT", None),
        ("AUTH_TYPE", None),
    ])
}
