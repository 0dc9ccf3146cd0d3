//! The fields of a record, in the order of the documentation and of exports. The store's type is what is
//! serialised; this is the list of it.

use std::borrow::Cow;

use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ObjectBuilder, Schema, SchemaType, Type};
use utoipa::{PartialSchema, ToSchema};

/// What a field holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holds {
    /// Text that the host wrote or checked.
    Word,
    /// Text that a client or a program may have chosen.
    FreeText,
    /// A time.
    Time,
    /// A whole number.
    Number,
}

/// One field: its name, what it holds, whether it may be null, and what it means.
pub(super) type Field = (&'static str, Holds, bool, &'static str);

/// Every field.
pub(super) const FIELDS: [Field; 27] = [
    ("id", Holds::Word, false, "UUIDv7, sortable by start"),
    ("started_at", Holds::Time, false, "When it was routed"),
    ("host", Holds::Word, false, "The host that served it"),
    ("program", Holds::FreeText, false, "The program's name"),
    (
        "version",
        Holds::Number,
        true,
        "Its version; null for drop-in files",
    ),
    ("mode", Holds::Word, false, "How it was run"),
    ("method", Holds::FreeText, false, "The request method"),
    (
        "path",
        Holds::FreeText,
        false,
        "The request path, without the query",
    ),
    ("query", Holds::FreeText, false, "The query string"),
    ("status", Holds::Number, false, "The status sent to the client"),
    ("outcome", Holds::Word, false, "How it ended"),
    ("queue_us", Holds::Number, false, "Routed to slot granted"),
    (
        "start_us",
        Holds::Number,
        false,
        "Slot granted to program can run",
    ),
    ("head_us", Holds::Number, false, "To header block complete"),
    ("body_us", Holds::Number, false, "To end of output"),
    (
        "exit_us",
        Holds::Number,
        false,
        "To process reaped or instance finished",
    ),
    (
        "total_us",
        Holds::Number,
        false,
        "Routed to last byte handed to the connection",
    ),
    (
        "cpu_us",
        Holds::Number,
        true,
        "User and system time of the program",
    ),
    (
        "peak_memory_bytes",
        Holds::Number,
        true,
        "Peak memory of the program",
    ),
    (
        "request_bytes",
        Holds::Number,
        false,
        "Bytes of the request body given to the program",
    ),
    (
        "response_bytes",
        Holds::Number,
        false,
        "Bytes of the response body",
    ),
    ("exit_code", Holds::Number, true, "The exit code, if it exited"),
    (
        "signal",
        Holds::Number,
        true,
        "The signal that ended it, if one did",
    ),
    (
        "error",
        Holds::FreeText,
        true,
        "What went wrong, in the host's words",
    ),
    ("remote_addr", Holds::Word, false, "The client's address"),
    (
        "concurrency",
        Holds::Number,
        false,
        "Requests of this program running when it started, itself included",
    ),
    (
        "experiment",
        Holds::FreeText,
        true,
        "The experiment it belongs to",
    ),
];

/// The schema of a record.
#[derive(Debug)]
pub(super) struct RecordSchema;

impl PartialSchema for RecordSchema {
    fn schema() -> RefOr<Schema> {
        let object = FIELDS.into_iter().fold(ObjectBuilder::new(), |object, field| {
            object.property(field.0, property(field)).required(field.0)
        });
        RefOr::T(Schema::Object(
            object.description(Some("One finished request")).build(),
        ))
    }
}

impl ToSchema for RecordSchema {
    fn name() -> Cow<'static, str> {
        Cow::Borrowed("Record")
    }
}

fn property((_, holds, nullable, meaning): Field) -> ObjectBuilder {
    let kind = match holds {
        Holds::Number => Type::Integer,
        Holds::Word | Holds::FreeText | Holds::Time => Type::String,
    };
    let types = if nullable {
        SchemaType::from_iter([kind, Type::Null])
    } else {
        SchemaType::new(kind)
    };
    let object = ObjectBuilder::new().schema_type(types).description(Some(meaning));
    match holds {
        Holds::Time => object.format(Some(utoipa::openapi::SchemaFormat::KnownFormat(
            utoipa::openapi::KnownFormat::DateTime,
        ))),
        _ => object,
    }
}

#[cfg(test)]
pub(super) mod tests {
    use warmbin_store::Record;

    use super::FIELDS;

    /// A record with every optional field filled.
    pub(in super::super::super) fn sample() -> Record {
        Record {
            id: "0193b8a0-0000-7000-8000-000000000001".to_owned(),
            started_at: 1_769_850_300_000_250,
            host: "here".to_owned(),
            program: "printenv".to_owned(),
            version: Some(3),
            mode: "fork".to_owned(),
            method: "GET".to_owned(),
            path: "/cgi-bin/printenv".to_owned(),
            query: "a=1,2".to_owned(),
            status: 200,
            outcome: "ok".to_owned(),
            queue_us: 1,
            start_us: 2,
            head_us: 3,
            body_us: 4,
            exit_us: 5,
            total_us: 15,
            cpu_us: Some(7),
            peak_memory_bytes: Some(8),
            request_bytes: 9,
            response_bytes: 10,
            exit_code: Some(0),
            signal: None,
            error: Some("said \"no\"\nand left".to_owned()),
            remote_addr: "127.0.0.1".to_owned(),
            concurrency: 1,
            experiment: None,
        }
    }

    #[test]
    fn the_list_is_that_of_the_records_fields() {
        let value = serde_json::to_value(sample()).unwrap();
        let mut serialised: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
        let mut listed: Vec<&str> = FIELDS.iter().map(|field| field.0).collect();
        serialised.sort_unstable();
        listed.sort_unstable();
        assert_eq!(serialised, listed);
    }
}
