//! `error_documents`: which address makes the page for which status.

use std::collections::BTreeMap;

use http::StatusCode;
use http::uri::PathAndQuery;

/// Addresses on this host, by status.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ErrorDocuments(BTreeMap<u16, String>);

impl ErrorDocuments {
    /// Reads what a source of the configuration says. Errors name the key.
    pub fn new(pairs: BTreeMap<String, String>) -> Result<Self, Vec<String>> {
        let (mut addresses, mut problems) = (BTreeMap::new(), Vec::new());
        for (status, address) in pairs {
            match entry(&status, &address) {
                Ok(status) => {
                    addresses.insert(status, address);
                }
                Err(why) => problems.push(format!("error_documents: {why}")),
            }
        }
        if problems.is_empty() {
            Ok(Self(addresses))
        } else {
            Err(problems)
        }
    }

    /// The address for `status`.
    pub fn get(&self, status: StatusCode) -> Option<&str> {
        self.0.get(&status.as_u16()).map(String::as_str)
    }
}

fn entry(status: &str, address: &str) -> Result<u16, String> {
    let number = status
        .parse()
        .ok()
        .filter(|number| (400..600).contains(number))
        .ok_or_else(|| format!("{status:?} is no status of an error (400 to 599)"))?;
    let is_path = address.starts_with('/') && !address.starts_with("//") && !address.contains('#');
    if !is_path || address.parse::<PathAndQuery>().is_err() {
        return Err(format!(
            "{address:?} is no address on this host: write a path such as /cgi-bin/not-found"
        ));
    }
    Ok(number)
}

impl std::fmt::Display for ErrorDocuments {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let pairs: Vec<String> = self
            .0
            .iter()
            .map(|(status, address)| format!("{status} = {address}"))
            .collect();
        write!(f, "{{ {} }}", pairs.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::ErrorDocuments;

    fn read(status: &str, address: &str) -> Result<ErrorDocuments, Vec<String>> {
        ErrorDocuments::new([(status.to_owned(), address.to_owned())].into())
    }

    #[test]
    fn an_entry_is_an_error_status_and_a_path_on_this_host() {
        for (status, address) in [("404", "/x"), ("599", "/cgi-bin/e/info?a=b")] {
            let read = read(status, address).unwrap();
            assert_eq!(read.get(status.parse().unwrap()), Some(address));
        }
        for (status, address) in [
            ("200", "/x"),
            ("600", "/x"),
            ("4xx", "/x"),
            ("404", "x"),
            ("404", "//host/x"),
            ("404", "http://host/x"),
            ("404", "/a b"),
            ("404", "/a#b"),
            ("404", ""),
        ] {
            assert!(read(status, address).is_err(), "{status} {address}");
        }
    }
}
