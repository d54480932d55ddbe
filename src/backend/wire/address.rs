//! Addresses of servers, as settings write them.

use reqwest::Url;

/// The address of a server that is reached over HTTP: `http` or `https`, and a host.
pub fn web_address(text: &str) -> Option<Url> {
    let url = Url::parse(text).ok()?;
    (matches!(url.scheme(), "http" | "https") && url.has_host()).then_some(url)
}
