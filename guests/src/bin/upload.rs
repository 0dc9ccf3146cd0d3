//! A form with a file, and what arrives when it is sent: every field's name, size and checksum.

use std::io::{self, Write};

use warmbin_guests::{head, multipart};

const FORM: &str = "<!doctype html>
<html lang=\"en\"><meta charset=\"utf-8\"><title>Upload</title>
<form method=\"post\" enctype=\"multipart/form-data\">
<p><label>Title <input name=\"title\"></label>
<p><label>File <input type=\"file\" name=\"file\"></label>
<p><button>Send</button>
</form></html>
";

fn main() -> io::Result<()> {
    let mut out = io::stdout().lock();
    let content_type = std::env::var("CONTENT_TYPE").unwrap_or_default();
    if std::env::var("REQUEST_METHOD").as_deref() != Ok("POST") {
        head(&mut out, "text/html; charset=utf-8")?;
        return out.write_all(FORM.as_bytes());
    }
    let Some(boundary) = multipart::boundary(&content_type) else {
        return refuse(&mut out, "415 Unsupported Media Type", "send multipart/form-data");
    };
    match multipart::read(io::stdin().lock(), &boundary) {
        Ok(parts) => {
            head(&mut out, "text/plain; charset=utf-8")?;
            for part in parts {
                let file = part
                    .file_name
                    .map(|name| format!(" file={name:?}"))
                    .unwrap_or_default();
                writeln!(
                    out,
                    "{:?}{file} size={} fnv1a={:016x}",
                    part.name, part.size, part.checksum
                )?;
            }
            Ok(())
        }
        Err(error) => refuse(&mut out, "400 Bad Request", &error.to_string()),
    }
}

fn refuse(out: &mut impl Write, status: &str, why: &str) -> io::Result<()> {
    write!(out, "Status: {status}\nContent-Type: text/plain\n\n{why}\n")
}
