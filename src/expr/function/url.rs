//! Functions of URLs.

use crate::value::Value;

use super::Row;
use super::args::{self, Computed};

pub(super) const FUNCTIONS: &[Row] = &[Row::global(
    "url_host",
    &["(string) -> string"],
    url_host,
    "The host of a URL as a browser and this program's own requests see it: in lower case, without \
     user and port. An error where the text is no URL with a host, so that a check of it can't be passed by accident.",
    r#"url_host("https://me@Example.com:8080/x") == "example.com""#,
)];

fn url_host(args: &[Value]) -> Computed {
    let text = args::text(args, 0)?;
    let url = url::Url::parse(text).map_err(|error| format!("the text is no URL: {error}"))?;
    match url.host_str() {
        Some(host) => Ok(host.into()),
        None => Err("the URL has no host".into()),
    }
}
