//! `GET /api/docs`: the document for people, plain and without scripts.

use std::fmt::Write;
use std::sync::Arc;

use axum::extract::State;
use axum::response::Html;
use utoipa::openapi::OpenApi as Document;
use utoipa::openapi::path::{Operation, ParameterIn};

/// The page.
pub(in super::super) async fn get(State(document): State<Arc<Document>>) -> Html<String> {
    Html(page(&document))
}

fn page(document: &Document) -> String {
    let mut html = format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>warmbin API</title>\
         <meta name=\"viewport\" content=\"width=device-width\"><link rel=\"stylesheet\" href=\"{}\"></head>\
         <body><main><h1>warmbin API</h1>",
        warmbin_dashboard::style_sheet()
    );
    if let Some(description) = &document.info.description {
        element(&mut html, "p", description);
    }
    html.push_str("<p>Machine-readable: <a href=\"/api/openapi.json\">/api/openapi.json</a></p>");
    for (path, item) in &document.paths.paths {
        let operations = [
            ("GET", &item.get),
            ("POST", &item.post),
            ("DELETE", &item.delete),
            ("PUT", &item.put),
            ("PATCH", &item.patch),
        ];
        for (method, operation) in operations {
            if let Some(operation) = operation {
                element(&mut html, "h2", &format!("{method} {path}"));
                describe(&mut html, operation);
            }
        }
    }
    html.push_str("</main></body></html>");
    html
}

fn describe(html: &mut String, operation: &Operation) {
    for text in [&operation.summary, &operation.description].into_iter().flatten() {
        element(html, "p", text);
    }
    let parameters = operation.parameters.as_deref().unwrap_or_default();
    if !parameters.is_empty() {
        html.push_str("<h3>Parameters</h3><dl>");
        for parameter in parameters {
            let utoipa::openapi::RefOr::T(parameter) = parameter else {
                continue;
            };
            let place = match parameter.parameter_in {
                ParameterIn::Path => " (path)",
                ParameterIn::Header => " (header)",
                _ => "",
            };
            element(html, "dt", &format!("{}{place}", parameter.name));
            element(html, "dd", parameter.description.as_deref().unwrap_or_default());
        }
        html.push_str("</dl>");
    }
    html.push_str("<h3>Answers</h3><dl>");
    for (status, response) in &operation.responses.responses {
        if let utoipa::openapi::RefOr::T(response) = response {
            element(html, "dt", status);
            element(html, "dd", &response.description);
        }
    }
    html.push_str("</dl>");
}

fn element(html: &mut String, name: &str, text: &str) {
    let text = text
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    // Writing to a string does not fail.
    let _ = write!(html, "<{name}>{text}</{name}>");
}
