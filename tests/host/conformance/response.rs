//! What a program prints, and what becomes of it (RFC 3875 §6).

use anyhow::{Result, ensure};
use warmbin_tests::Answer;

use super::Where::Everywhere;
use super::scene::{PLAIN, Scene, pull};
use super::section;

section! {
    "Responses";
    r01 Everywhere, "a header block and a body, with LF line ends" => "200 and the very body": line_feeds;
    r02 Everywhere, "CR LF line ends, and both kinds mixed" => "the same": carriage_returns;
    r03 Everywhere, "`Status: 404 Not here` and a body" => "404 and the body": status_and_body;
    r05 Everywhere, "a Status of 999, abc, 30, 0, 99 or 1000" => "502; the record says why": no_status;
    r06 Everywhere, "`Status: 200 OK` and Last-Modified, asked for with a later If-Modified-Since" =>
        "200 and the body: conditions are the program's": conditional;
    r07 Everywhere, "Last-Modified alone, asked for with the same If-Modified-Since" =>
        "200 and the body: only the program knows whether that is all that counts": same_date;
    r08 Everywhere, "`Status: 304` with a body, on a connection that is kept" =>
        "304 without a body; the next answer is whole": not_modified;
    r09 Everywhere, "`Status: 204` with a body, on a connection that is kept" =>
        "204 without body and length; the next answer is whole": no_content;
    r10 Everywhere, "`Location: http://x/` alone" => "302 with that Location": client_redirect;
    r11 Everywhere, "Location, `Status: 301` and a body" => "301, Location and body": redirect_with_document;
    r12 Everywhere, "Location first, then `Status: 201` and a body, for a POST" => "201 and the body": created;
    r14 Everywhere, "`Location: /x` and Set-Cookie" => "302 to the client, with the cookie": redirect_with_cookie;
    r15 Everywhere, "a local redirect to itself" => "500 after a bounded number of rounds": circle;
    r16 Everywhere, "`Location: /../../etc/passwd`, `//evil`, `/a b`" => "404; 302 for the client": odd_redirects;
    r18 Everywhere, "a line without a colon" => "502; the record quotes the line": no_colon;
    r19 Everywhere, "a line with an empty name" => "502": empty_name;
    r20 Everywhere, "a name with a NUL, a control character or a space" => "502": bad_names;
    r22 Everywhere, "a value with a control character, a NUL or a CR inside" => "502": bad_values;
    r23 Everywhere, "a query with `%0d%0aSet-Cookie:%20x` that the program repeats in a field as it is" =>
        "one field: the host decodes nothing into fields": injected;
    r24 Everywhere, "a name with an underscore" => "it is passed": underscore;
    r25 Everywhere, "a name that no field may have but that does no harm, such as `<!--`" =>
        "the line is dropped": odd_name;
    r26 Everywhere, "two Set-Cookie" => "both, in order": cookies;
    r27 Everywhere, "two Content-Type" => "the last, once": content_types;
    r28 Everywhere, "Date and Server" => "each once, as the program has it": date_and_server;
    r30 Everywhere, "Connection, Keep-Alive, Upgrade, and a field that Connection names" => "none is passed": hop_by_hop;
    r31 Everywhere, "Transfer-Encoding: chunked" => "502: framing is the host's": framing;
    r32 Everywhere, "none of Content-Type, Location and Status" => "502: no type is guessed": nothing_required;
    r34 Everywhere, "spaces, then exit 1" => "502": spaces;
    r35 Everywhere, "one field of 8,191 bytes and one of 9,000" => "both are passed": long_lines;
    r36 Everywhere, "70 KB of fields" => "502": long_block;
    r38 Everywhere, "a line without end" => "502, with bounded memory": endless_line;
    r39 Everywhere, "a header block byte by byte" => "200, each field once": dripping;
    r40 Everywhere, "a true Content-Length, twice on one connection" => "two whole answers": true_length;
    r42 Everywhere, "a Content-Length of 9 and 5 bytes" => "an answer that is visibly not whole": too_short;
    r43 Everywhere, "a Content-Length that is no number, or two that differ" => "it is dropped; the body is whole": bad_lengths;
    r44 Everywhere, "HEAD twice on one connection, to a program that prints a body" => "two heads, no body": head;
    r45 Everywhere, "HEAD to a program that prints for ever" => "the head at once; the program is ended": head_of_endless;
    r46 Everywhere, "every byte there is, 256 times" => "the very bytes": every_byte;
    r47 Everywhere, "a body that begins with blank lines" => "they are kept": blank_lines;
    r48 Everywhere, "an empty body with `Content-Length: 0`" => "200 and nothing": empty_body;
    r51 Everywhere, "a whole body where a range was asked for" => "200 and all of it: ranges are the program's": range;
    r52 Everywhere, "a body with a Content-Encoding of its own" => "it is passed as it is": encoded;
    r53 Everywhere, "a field of the program's own" => "it is passed": own_field;
    r59 Everywhere, "`HTTP/1.1 404 Gone away` as the first line" => "it counts as a Status": status_line;
    r50 Everywhere, "`Location: x`, without a slash, and `Location: ?a=b`" => "302 for the client": relative_redirects;
    r61 Everywhere, "a Content-Length of 3 and 5 bytes" => "3 bytes, and the connection goes on": too_long;
}

async fn refused(scene: &Scene<'_>, scripts: &[&str]) -> Result<()> {
    for script in scripts {
        scene.unusable(script).await?;
    }
    let record = scene.record(scripts.len()).await?;
    ensure!(
        record["outcome"] != "ok" && record["error"].is_string(),
        "{record}"
    );
    Ok(())
}

fn values<'a>(answer: &'a Answer, name: &str) -> Vec<&'a str> {
    let of_name = answer.headers.iter().filter(|(known, _)| known == name);
    of_name.map(|(_, value)| value.as_str()).collect()
}

async fn line_feeds(scene: &Scene<'_>) -> Result<()> {
    let answer = scene
        .whole(&format!("{PLAIN}; out a%0Ab%0D%0A%00c"), 200, "a\nb\r\n\0c")
        .await?;
    ensure!(answer.header("content-type") == Some("text/plain"), "{answer:?}");
    Ok(())
}

async fn carriage_returns(scene: &Scene<'_>) -> Result<()> {
    for ends in [("%0D%0A", "%0D%0A"), ("%0A", "%0D%0A"), ("%0D%0A", "%0A")] {
        let script = format!("out Content-Type: text/plain{}X-A: b{0}{}body", ends.0, ends.1);
        let answer = scene.whole(&script, 200, "body").await?;
        ensure!(answer.header("x-a") == Some("b"), "{answer:?}");
    }
    Ok(())
}

async fn status_and_body(scene: &Scene<'_>) -> Result<()> {
    let script = "out Status: 404 Not here%0AContent-Type: text/plain%0A%0Agone";
    scene.whole(script, 404, "gone").await.map(drop)
}

async fn no_status(scene: &Scene<'_>) -> Result<()> {
    let scripts = ["999", "abc", "30", "0", "99", "1000"].map(|status| format!("out Status: {status}%0A%0A"));
    refused(scene, &scripts.each_ref().map(String::as_str)).await
}

async fn conditional(scene: &Scene<'_>) -> Result<()> {
    let script = "out Status: 200 OK%0AContent-Type: text/plain%0ALast-Modified: Mon, 05 Jan 2026 10:00:00 GMT%0A%0Apage";
    for since in ["Tue, 06 Jan 2026 10:00:00 GMT", "Mon, 05 Jan 2026 10:00:00 GMT"] {
        let fields = format!("{}If-Modified-Since: {since}\r\n", pull(script));
        let answer = scene.get("/cgi-bin/puppet", &fields).await?;
        ensure!(answer.status == 200 && answer.text() == "page", "{answer:?}");
    }
    Ok(())
}

async fn same_date(scene: &Scene<'_>) -> Result<()> {
    let date = "Mon, 05 Jan 2026 10:00:00 GMT";
    let script = format!("out Content-Type: text/plain%0ALast-Modified: {date}%0A%0Apage");
    let fields = format!("{}If-Modified-Since: {date}\r\n", pull(&script));
    let answer = scene.get("/cgi-bin/puppet", &fields).await?;
    ensure!(
        answer.status == 200 && answer.text() == "page" && answer.header("last-modified") == Some(date),
        "{answer:?}"
    );
    Ok(())
}

async fn injected(scene: &Scene<'_>) -> Result<()> {
    let query = "q=%0d%0aSet-Cookie:%20x";
    // Encoded once more, as the puppet decodes what it prints.
    let field = format!("X-Query: {}", query.replace('%', "%25"));
    let script = format!("out Content-Type: text/plain%0A{field}%0A%0Apage");
    let answer = scene
        .get(&format!("/cgi-bin/puppet?{query}"), &pull(&script))
        .await?;
    ensure!(
        answer.header("x-query") == Some(query) && answer.header("set-cookie").is_none(),
        "{answer:?}"
    );
    Ok(())
}

/// The answer to `script`, and that the connection then serves another request.
async fn then_another(scene: &Scene<'_>, method: &str, script: &str) -> Result<Answer> {
    let mut connection = scene.connect().await?;
    let line = format!("{method} /cgi-bin/puppet HTTP/1.1");
    connection
        .send(scene.request(&line, &pull(script)).as_bytes())
        .await?;
    let answer = connection.answer(method == "HEAD").await?;
    let next = scene.request(
        "GET /cgi-bin/puppet HTTP/1.1",
        &pull(&format!("{PLAIN}; out next")),
    );
    connection.send(next.as_bytes()).await?;
    let next = connection.answer(false).await?;
    ensure!(
        next.status == 200 && next.text() == "next",
        "after {answer:?}: {next:?}"
    );
    Ok(answer)
}

async fn not_modified(scene: &Scene<'_>) -> Result<()> {
    let answer = then_another(scene, "GET", "out Status: 304%0AETag: \"a\"%0A%0Abody").await?;
    ensure!(
        answer.status == 304 && answer.header("etag") == Some("\"a\""),
        "{answer:?}"
    );
    Ok(())
}

async fn no_content(scene: &Scene<'_>) -> Result<()> {
    let answer = then_another(scene, "GET", "out Status: 204%0A%0Abody").await?;
    ensure!(
        answer.status == 204 && answer.header("content-length").is_none(),
        "{answer:?}"
    );
    Ok(())
}

async fn client_redirect(scene: &Scene<'_>) -> Result<()> {
    let answer = scene.whole("out Location: http://x/%0A%0A", 302, "").await?;
    ensure!(answer.header("location") == Some("http://x/"), "{answer:?}");
    Ok(())
}

async fn redirect_with_document(scene: &Scene<'_>) -> Result<()> {
    let script = "out Location: http://x/%0AStatus: 301%0AContent-Type: text/plain%0A%0Amoved";
    let answer = scene.whole(script, 301, "moved").await?;
    ensure!(answer.header("location") == Some("http://x/"), "{answer:?}");
    Ok(())
}

async fn created(scene: &Scene<'_>) -> Result<()> {
    let script = "out Location: /made%0AStatus: 201%0AContent-Type: text/plain%0A%0Amade";
    let fields = format!("{}Content-Length: 1\r\n", pull(script));
    let request = scene.request("POST /cgi-bin/puppet HTTP/1.1", &fields);
    let answer = scene.raw(format!("{request}x").as_bytes()).await?;
    ensure!(answer.status == 201 && answer.text() == "made", "{answer:?}");
    Ok(())
}

async fn redirect_with_cookie(scene: &Scene<'_>) -> Result<()> {
    let answer = scene
        .whole("out Location: /x%0ASet-Cookie: a=b%0A%0A", 302, "")
        .await?;
    ensure!(
        answer.header("location") == Some("/x") && answer.header("set-cookie") == Some("a=b"),
        "{answer:?}"
    );
    Ok(())
}

async fn circle(scene: &Scene<'_>) -> Result<()> {
    let answer = scene.puppet("out Location: /cgi-bin/puppet%0A%0A").await?;
    ensure!(answer.status == 500, "{answer:?}");
    Ok(())
}

async fn odd_redirects(scene: &Scene<'_>) -> Result<()> {
    let climbs = scene.puppet("out Location: /../../etc/passwd%0A%0A").await?;
    ensure!(matches!(climbs.status, 400 | 404), "{climbs:?}");
    client_redirects(scene, &["//evil/x", "/a b", "/a#b", "/%25zz b"]).await
}

async fn relative_redirects(scene: &Scene<'_>) -> Result<()> {
    client_redirects(scene, &["x", "?a=b", "../x"]).await
}

async fn client_redirects(scene: &Scene<'_>, locations: &[&str]) -> Result<()> {
    for location in locations {
        let answer = scene.puppet(&format!("out Location: {location}%0A%0A")).await?;
        let passed = location.replace("%25", "%");
        ensure!(
            answer.status == 302 && answer.header("location") == Some(&passed),
            "{answer:?}"
        );
    }
    Ok(())
}

async fn no_colon(scene: &Scene<'_>) -> Result<()> {
    let answer = scene
        .puppet("out Content-Type: text/plain%0Ano colon here%0A%0A")
        .await?;
    ensure!(
        answer.status == 502 && !answer.text().contains("no colon"),
        "{answer:?}"
    );
    let record = scene.record(1).await?;
    let error = record["error"].as_str().unwrap_or_default();
    ensure!(error.contains("no colon here"), "{record}");
    Ok(())
}

async fn empty_name(scene: &Scene<'_>) -> Result<()> {
    refused(scene, &["out Content-Type: text/plain%0A: value%0A%0A"]).await
}

async fn bad_names(scene: &Scene<'_>) -> Result<()> {
    let scripts = ["X%00A", "X%01A", "X A", "X%7FA", "X%09A"]
        .map(|name| format!("out Content-Type: text/plain%0A{name}: value%0A%0A"));
    refused(scene, &scripts.each_ref().map(String::as_str)).await
}

async fn bad_values(scene: &Scene<'_>) -> Result<()> {
    let scripts = ["a%01b", "a%00b", "a%0DSet-Cookie: c=d", "a%7Fb"]
        .map(|value| format!("out Content-Type: text/plain%0AX-A: {value}%0A%0A"));
    refused(scene, &scripts.each_ref().map(String::as_str)).await
}

async fn underscore(scene: &Scene<'_>) -> Result<()> {
    let answer = scene
        .whole("out Content-Type: text/plain%0AFoo_Bar: 1%0A%0Ax", 200, "x")
        .await?;
    ensure!(answer.header("foo_bar") == Some("1"), "{answer:?}");
    Ok(())
}

async fn odd_name(scene: &Scene<'_>) -> Result<()> {
    let answer = scene
        .whole("out <!--: spam%0AContent-Type: text/plain%0A%0Ax", 200, "x")
        .await?;
    ensure!(!format!("{:?}", answer.headers).contains("spam"), "{answer:?}");
    Ok(())
}

async fn cookies(scene: &Scene<'_>) -> Result<()> {
    let script = "out Set-Cookie: b=1%0AContent-Type: text/plain%0ASet-Cookie: a=2%0A%0Ax";
    let answer = scene.whole(script, 200, "x").await?;
    ensure!(values(&answer, "set-cookie") == ["b=1", "a=2"], "{answer:?}");
    Ok(())
}

async fn content_types(scene: &Scene<'_>) -> Result<()> {
    let answer = scene
        .whole(
            "out Content-Type: text/html%0AContent-Type: text/plain%0A%0Ax",
            200,
            "x",
        )
        .await?;
    ensure!(values(&answer, "content-type") == ["text/plain"], "{answer:?}");
    Ok(())
}

async fn date_and_server(scene: &Scene<'_>) -> Result<()> {
    let date = "Mon, 05 Jan 2026 10:00:00 GMT";
    let script = format!("out Content-Type: text/plain%0ADate: {date}%0AServer: own%0A%0Ax");
    let answer = scene.whole(&script, 200, "x").await?;
    ensure!(
        values(&answer, "date") == [date] && values(&answer, "server") == ["own"],
        "{answer:?}"
    );
    Ok(())
}

async fn hop_by_hop(scene: &Scene<'_>) -> Result<()> {
    let script = "out Content-Type: text/plain%0AConnection: close, X-Private%0AX-Private: 1%0AKeep-Alive: x%0A\
                  Upgrade: y%0A%0Ax";
    let answer = then_another(scene, "GET", script).await?;
    for name in ["connection", "x-private", "keep-alive", "upgrade"] {
        ensure!(answer.header(name).is_none(), "{name}: {answer:?}");
    }
    Ok(())
}

async fn framing(scene: &Scene<'_>) -> Result<()> {
    refused(
        scene,
        &["out Content-Type: text/plain%0ATransfer-Encoding: chunked%0A%0A1%0D%0Ax%0D%0A0%0D%0A%0D%0A"],
    )
    .await
}

async fn nothing_required(scene: &Scene<'_>) -> Result<()> {
    refused(scene, &["out X-A: b%0A%0A<p>", "out %0A<p>"]).await
}

async fn spaces(scene: &Scene<'_>) -> Result<()> {
    refused(scene, &["out    ; exit 1", "exit 1", "exit 0"]).await
}

async fn long_lines(scene: &Scene<'_>) -> Result<()> {
    for bytes in [8_191, 9_000] {
        let script = format!(
            "{}; repeat {bytes} v; out %0A%0Ax",
            "out Content-Type: text/plain%0AX-Long: "
        );
        let answer = scene.whole(&script, 200, "x").await?;
        ensure!(
            answer.header("x-long").map(str::len) == Some(bytes),
            "{bytes} bytes are not passed"
        );
    }
    Ok(())
}

async fn long_block(scene: &Scene<'_>) -> Result<()> {
    let line = "X-Line: 3456789012345678901234567890123456789012345678901234567890%0A";
    let lines = format!("repeat 1100 {line}; {PLAIN}; out x");
    refused(scene, &[&lines]).await
}

async fn endless_line(scene: &Scene<'_>) -> Result<()> {
    refused(scene, &["repeat 100000000 xxxxxxxxxx"]).await
}

async fn dripping(scene: &Scene<'_>) -> Result<()> {
    let answer = scene
        .whole("drip 5 Content-Type: text/plain%0AX-A: b%0A%0Aslow", 200, "slow")
        .await?;
    ensure!(values(&answer, "x-a") == ["b"], "{answer:?}");
    Ok(())
}

async fn true_length(scene: &Scene<'_>) -> Result<()> {
    let answer = then_another(
        scene,
        "GET",
        "out Content-Type: text/plain%0AContent-Length: 5%0A%0Afives",
    )
    .await?;
    ensure!(
        answer.header("content-length") == Some("5") && answer.text() == "fives",
        "{answer:?}"
    );
    Ok(())
}

async fn too_short(scene: &Scene<'_>) -> Result<()> {
    let answer = scene
        .puppet("out Content-Type: text/plain%0AContent-Length: 9%0A%0Afives; sleep 200")
        .await?;
    ensure!(!answer.complete, "{answer:?}");
    Ok(())
}

async fn too_long(scene: &Scene<'_>) -> Result<()> {
    let answer = then_another(
        scene,
        "GET",
        "out Content-Type: text/plain%0AContent-Length: 3%0A%0Afives",
    )
    .await?;
    ensure!(answer.text() == "fiv" && answer.complete, "{answer:?}");
    Ok(())
}

async fn bad_lengths(scene: &Scene<'_>) -> Result<()> {
    for lengths in [
        "-1",
        "abc",
        "%2B5",
        "5%0AContent-Length: 6",
        "99999999999999999999",
    ] {
        let script = format!("out Content-Type: text/plain%0AContent-Length: {lengths}%0A%0Afives");
        let answer = scene.whole(&script, 200, "fives").await?;
        ensure!(answer.header("content-length").is_none(), "{answer:?}");
    }
    Ok(())
}

async fn head(scene: &Scene<'_>) -> Result<()> {
    let script = "out Content-Type: text/plain%0AContent-Length: 5%0A%0Afives";
    let answer = then_another(scene, "HEAD", script).await?;
    ensure!(
        answer.status == 200 && answer.header("content-length") == Some("5"),
        "{answer:?}"
    );
    Ok(())
}

async fn head_of_endless(scene: &Scene<'_>) -> Result<()> {
    let script = format!("{PLAIN}; repeat 100000000000 more");
    then_another(scene, "HEAD", &script).await?;
    // Its record is written once it has left.
    scene.record(2).await.map(drop)
}

async fn every_byte(scene: &Scene<'_>) -> Result<()> {
    let all = (0..=255).fold(String::new(), |all, byte| format!("{all}%{byte:02X}"));
    let answer = scene.puppet(&format!("{PLAIN}; repeat 256 {all}")).await?;
    let expected: Vec<u8> = (0..=255).collect::<Vec<u8>>().repeat(256);
    ensure!(
        answer.body == expected && answer.complete,
        "{} bytes",
        answer.body.len()
    );
    Ok(())
}

async fn blank_lines(scene: &Scene<'_>) -> Result<()> {
    scene
        .whole(&format!("{PLAIN}; out %0A%0D%0A%0Ax"), 200, "\n\r\n\nx")
        .await
        .map(drop)
}

async fn empty_body(scene: &Scene<'_>) -> Result<()> {
    let answer = then_another(
        scene,
        "GET",
        "out Content-Type: text/plain%0AContent-Length: 0%0A%0A",
    )
    .await?;
    ensure!(
        answer.status == 200 && answer.header("content-length") == Some("0"),
        "{answer:?}"
    );
    Ok(())
}

async fn range(scene: &Scene<'_>) -> Result<()> {
    let fields = format!("{}Range: bytes=0-3\r\n", pull(&format!("{PLAIN}; out the whole")));
    let answer = scene.get("/cgi-bin/puppet", &fields).await?;
    ensure!(answer.status == 200 && answer.text() == "the whole", "{answer:?}");
    Ok(())
}

async fn encoded(scene: &Scene<'_>) -> Result<()> {
    let script = "out Content-Type: text/plain%0AContent-Encoding: gzip%0A%0A%1F%8B-as-it-is";
    let fields = format!("{}Accept-Encoding: gzip\r\n", pull(script));
    let answer = scene.get("/cgi-bin/puppet", &fields).await?;
    ensure!(
        answer.body == b"\x1f\x8b-as-it-is" && values(&answer, "content-encoding") == ["gzip"],
        "{answer:?}"
    );
    Ok(())
}

async fn own_field(scene: &Scene<'_>) -> Result<()> {
    let answer = scene
        .whole("out X-Foo:   bar  %0AContent-Type: text/plain%0A%0Ax", 200, "x")
        .await?;
    ensure!(answer.header("x-foo") == Some("bar"), "{answer:?}");
    Ok(())
}

async fn status_line(scene: &Scene<'_>) -> Result<()> {
    let script = "out HTTP/1.1 404 Gone away%0AContent-Type: text/plain%0A%0Agone";
    scene.whole(script, 404, "gone").await.map(drop)
}
