//! HTTP/1.1 by hand, for what a well-behaved client never sends and never shows.

use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// How long one read may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// An answer as it was on the wire.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// Names in lower case and values, in order.
    pub headers: Vec<(String, String)>,
    /// The body, without its framing.
    pub body: Vec<u8>,
    /// Whether the framing says that this is all of it.
    pub complete: bool,
}

impl Answer {
    /// The first header of that name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// Sends one request on a connection of its own and reads the answer.
pub async fn exchange(url: &str, request: &[u8]) -> Result<Answer> {
    let mut connection = Connection::open(url).await?;
    connection.send(request).await?;
    connection.answer(false).await
}

/// A connection.
#[derive(Debug)]
pub struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Connection {
    /// Connects to the host of `url`.
    pub async fn open(url: &str) -> Result<Self> {
        let authority = url.strip_prefix("http://").context("an http URL")?;
        let stream = TcpStream::connect(authority).await?;
        stream.set_nodelay(true)?;
        Ok(Self::over(stream))
    }

    /// A connection that there already is.
    pub fn over(stream: TcpStream) -> Self {
        Self {
            stream,
            buffer: Vec::new(),
        }
    }

    /// Sends bytes.
    pub async fn send(&mut self, bytes: &[u8]) -> Result<()> {
        Ok(self.stream.write_all(bytes).await?)
    }

    /// Reads more; `false` at the end or when the other side broke off.
    async fn fill(&mut self) -> Result<bool> {
        let read = timeout(PATIENCE, self.stream.read_buf(&mut self.buffer))
            .await
            .context("nothing more came")?;
        Ok(read.is_ok_and(|read| read > 0))
    }

    /// Reads until `mark` has come, and returns everything up to and with it.
    pub async fn until(&mut self, mark: &[u8]) -> Result<Vec<u8>> {
        loop {
            if let Some(at) = self.buffer.windows(mark.len()).position(|window| window == mark) {
                return Ok(self.buffer.drain(..at + mark.len()).collect());
            }
            if !self.fill().await? {
                bail!("the connection ended before {:?}", String::from_utf8_lossy(mark));
            }
        }
    }

    /// Reads one answer; `head_only` for the answer to a HEAD.
    pub async fn answer(&mut self, head_only: bool) -> Result<Answer> {
        let mut answer = self.head().await?;
        while (100..200).contains(&answer.status) {
            answer = self.head().await?;
        }
        if head_only || matches!(answer.status, 204 | 304) {
            answer.complete = true;
        } else if answer.header("transfer-encoding") == Some("chunked") {
            answer.complete = self.chunks(&mut answer.body).await?;
        } else if let Some(length) = answer.header("content-length") {
            let length: usize = length.parse()?;
            while self.buffer.len() < length && self.fill().await? {}
            answer.complete = self.buffer.len() >= length;
            answer.body = self.buffer.drain(..length.min(self.buffer.len())).collect();
        } else {
            while self.fill().await? {}
            answer.body = std::mem::take(&mut self.buffer);
            answer.complete = true;
        }
        Ok(answer)
    }

    /// Reads an answer's head and leaves its body.
    pub async fn head(&mut self) -> Result<Answer> {
        let head = String::from_utf8_lossy(&self.until(b"\r\n\r\n").await?).into_owned();
        let (first, fields) = head.split_once("\r\n").context("a head has lines")?;
        ensure!(first.starts_with("HTTP/1."), "no status line: {first:?}");
        let status = first
            .split(' ')
            .nth(1)
            .context("a status line has a status")?
            .parse()?;
        let headers = fields
            .lines()
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
            .collect();
        Ok(Answer {
            status,
            headers,
            body: Vec::new(),
            complete: false,
        })
    }

    /// Reads chunks into `body`; whether the last one came.
    async fn chunks(&mut self, body: &mut Vec<u8>) -> Result<bool> {
        loop {
            let Ok(line) = self.until(b"\r\n").await else {
                return Ok(false);
            };
            let size = usize::from_str_radix(String::from_utf8_lossy(&line).trim(), 16)?;
            while self.buffer.len() < size + 2 {
                if !self.fill().await? {
                    body.append(&mut self.buffer);
                    return Ok(false);
                }
            }
            body.extend(self.buffer.drain(..size));
            ensure!(
                self.buffer.drain(..2).eq(*b"\r\n"),
                "a chunk of {size} bytes has no end"
            );
            if size == 0 {
                return Ok(true);
            }
        }
    }
}
