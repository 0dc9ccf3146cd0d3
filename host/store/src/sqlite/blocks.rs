//! Reading numbers of very many rows.
//!
//! A row costs the driver several times what it costs SQLite, so the database packs the numbers of a block of rows into
//! one text and only the blocks travel.

/// What blocks are made by, after the keys of the group: 16,384 rows each.
pub(super) const BLOCK: &str = "seq >> 14";

/// The expression that packs a column. Rows without a value are left out.
pub(super) fn packed(column: &str) -> String {
    format!("GROUP_CONCAT({column}, ' ')")
}

/// The numbers of a packed column.
pub(super) fn unpacked(text: Option<&str>) -> impl Iterator<Item = Result<u64, sqlx::Error>> {
    text.unwrap_or_default().split_ascii_whitespace().map(|number| {
        number
            .parse()
            .map_err(|error| sqlx::Error::Decode(Box::new(error)))
    })
}
