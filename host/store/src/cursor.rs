//! Where a page ended, as text that only the store reads: `VERSION ORDER . KEY . ID`, in characters that a URL takes as
//! they are. The order is part of it because a key means nothing in another order.

use crate::error::StoreError;
use crate::filter::Order;

/// The key of the last row of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cursor {
    /// The value that the list is ordered by.
    pub(crate) key: i64,
    /// The tie-breaker.
    pub(crate) id: String,
}

impl Cursor {
    /// As text.
    pub(crate) fn write(&self, order: Order) -> String {
        format!("{}.{}.{}", mark(order), self.key, self.id)
    }

    /// From text; anything but what [`Self::write`] wrote for the same order is refused.
    pub(crate) fn read(text: &str, order: Order) -> Result<Self, StoreError> {
        let mut parts = text.splitn(3, '.');
        match (parts.next(), parts.next().map(str::parse), parts.next()) {
            (Some(found), Some(Ok(key)), Some(id)) if found == mark(order) => {
                let cursor = Self {
                    key,
                    id: id.to_owned(),
                };
                if cursor.write(order) == text {
                    Ok(cursor)
                } else {
                    Err(StoreError::BadCursor)
                }
            }
            _ => Err(StoreError::BadCursor),
        }
    }
}

/// Version and order. A change of the format is a new version, so that an old cursor is refused and never misread.
const fn mark(order: Order) -> &'static str {
    match order {
        Order::StartedAt => "1s",
        Order::Total => "1t",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_wrote_and_nothing_else() {
        let cursor = Cursor {
            key: -5,
            id: "a.b-c".to_owned(),
        };
        let text = cursor.write(Order::Total);
        assert_eq!(Cursor::read(&text, Order::Total).ok(), Some(cursor));
        for bad in [
            "",
            "1t",
            "1t.5",
            "1s.5.x",
            "2t.5.x",
            "1t.x.5",
            "1t.+5.x",
            "1t.99999999999999999999.x",
        ] {
            assert!(
                matches!(Cursor::read(bad, Order::Total), Err(StoreError::BadCursor)),
                "{bad}"
            );
        }
    }
}
