//! Bodies stream, in both directions and at once.

use anyhow::Result;
use sha2::{Digest, Sha256};
use warmbin_tests::{Connection, MODES, TestHost, chunked};

/// Bytes that repeat nowhere, so that a lost, doubled or moved piece shows.
fn noise(len: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut bytes = Vec::with_capacity(len + 8);
    while bytes.len() < len {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend_from_slice(&state.to_le_bytes());
    }
    bytes.truncate(len);
    bytes
}

#[tokio::test]
async fn eight_mib_come_back_as_they_were_sent() -> Result<()> {
    let host = TestHost::builder()?.guest("echo", "").start().await?;
    let body = noise(8 << 20);
    let hash = Sha256::digest(&body);
    for mode in MODES {
        let sized = host
            .post_in(mode, "/cgi-bin/echo")
            .body(body.clone())
            .send()
            .await?;
        assert_eq!(Sha256::digest(sized.bytes().await?), hash, "{mode}");

        let chunked = host
            .post_in(mode, "/cgi-bin/echo")
            .body(chunked(&body, 70_001))
            .send()
            .await?;
        assert_eq!(Sha256::digest(chunked.bytes().await?), hash, "{mode}, chunked");

        let records = host.records_when(&format!("mode={mode}"), 2).await?;
        for record in records {
            assert_eq!(record["request_bytes"], body.len(), "{mode}");
            assert_eq!(record["response_bytes"], body.len(), "{mode}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn bodies_of_every_awkward_size_come_back() -> Result<()> {
    let host = TestHost::builder()?.guest("echo", "").start().await?;
    for mode in MODES {
        for size in [0, 1, 4095, 4096, 65_535, 65_536, 65_537] {
            let body = noise(size);
            let answer = host
                .post_in(mode, "/cgi-bin/echo")
                .body(body.clone())
                .send()
                .await?;
            assert!(answer.bytes().await? == body, "{mode}, {size} bytes");
        }
    }
    Ok(())
}

/// Much more than any pipe holds, in both directions: whoever waits for the other to finish waits for ever.
#[tokio::test]
async fn a_program_may_write_a_mib_before_it_reads() -> Result<()> {
    let host = TestHost::builder()?.guest("echo", "").start().await?;
    let body = noise(4 << 20);
    for mode in MODES {
        let answer = host
            .post_in(mode, "/cgi-bin/echo?before=1024")
            .body(body.clone())
            .send()
            .await?
            .bytes()
            .await?;
        assert_eq!(answer.len(), (1 << 20) + body.len(), "{mode}");
        assert!(
            answer[..1 << 20].iter().all(|byte| *byte == b'.') && answer[1 << 20..] == body[..],
            "{mode}"
        );
    }
    Ok(())
}

#[tokio::test]
async fn a_program_need_not_read_its_body() -> Result<()> {
    let host = TestHost::builder()?.guest("hello", "").start().await?;
    let body = noise(8 << 20);
    for mode in MODES {
        for _ in 0..3 {
            let answer = host
                .post_in(mode, "/cgi-bin/hello")
                .body(body.clone())
                .send()
                .await?;
            assert_eq!(answer.text().await?, "Hello from a CGI program.\n", "{mode}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn the_answer_flows_while_the_request_is_still_being_sent() -> Result<()> {
    let host = TestHost::builder()?.guest("echo", "").start().await?;
    for mode in MODES {
        let mut connection = Connection::open(host.programs()).await?;
        connection
            .send(
                format!("POST /cgi-bin/echo HTTP/1.0\r\nWarmbin-Mode: {mode}\r\nContent-Length: 10\r\n\r\n")
                    .as_bytes(),
            )
            .await?;
        let head = connection.head().await?;
        assert_eq!(head.status, 200, "{mode}: before a byte of the body was sent");
        for piece in [b"first", b"other"] {
            connection.send(piece).await?;
            assert_eq!(connection.until(piece).await?, piece, "{mode}");
        }
    }
    Ok(())
}

/// Whoever held a line back until more comes would wait for ever: more comes only after it was read.
#[tokio::test]
async fn a_line_arrives_before_the_next_is_written() -> Result<()> {
    let host = TestHost::builder()?.guest("puppet", "").start().await?;
    let script = "out Content-Type: text/plain%0A%0Aone%0A; read 1; out two%0A; read 1; out three%0A";
    for mode in MODES {
        let mut connection = Connection::open(host.programs()).await?;
        let request = format!(
            "POST /cgi-bin/puppet HTTP/1.0\r\nWarmbin-Mode: {mode}\r\nPuppet: {script}\r\nContent-Length: 2\r\n\r\n"
        );
        connection.send(request.as_bytes()).await?;
        connection.until(b"one\n").await?;
        for line in [&b"two\n"[..], b"three\n"] {
            connection.send(b"x").await?;
            assert_eq!(connection.until(line).await?, line, "{mode}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn an_uploaded_form_is_understood_in_every_mode() -> Result<()> {
    let host = TestHost::builder()?.guest("upload", "").start().await?;
    let file = noise(300_000);
    let mut answers = Vec::new();
    for mode in MODES {
        let part = reqwest::multipart::Part::bytes(file.clone()).file_name("noise.bin");
        let form = reqwest::multipart::Form::new()
            .text("title", "A form")
            .part("file", part);
        let answer = host
            .post_in(mode, "/cgi-bin/upload")
            .multipart(form)
            .send()
            .await?;
        answers.push(answer.text().await?);
    }
    assert!(
        answers[0].contains("\"file\" file=\"noise.bin\" size=300000 fnv1a="),
        "{}",
        answers[0]
    );
    assert!(answers[0].contains("\"title\" size=6 fnv1a="), "{}", answers[0]);
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
    Ok(())
}
