//! `allow_hosts`, and addresses that only this machine, or the network that it stands in, can reach.

use std::net::IpAddr;

use url::Url;

use crate::diag::{Diagnostic, codes};
use crate::project::spec::address::is_public;
use crate::project::spec::http::host::HostRule;
use crate::project::yaml::Cursor;

/// Notes an address written out whose host is private. One that a variable gives is the environment's matter.
pub fn note_private(cursor: &Cursor<'_>) {
    let Some(text) = cursor.json().as_str().filter(|text| !text.contains("${")) else {
        return;
    };
    // A template within the path is no part of the host.
    let address = text.split("{{").next().unwrap_or(text);
    let Some(host) = Url::parse(address).ok().and_then(|url| private(&url)) else {
        return;
    };
    let message =
        format!("`{host}` is a private host, written out: elsewhere it is another, or none");
    let help = "take it from the environment: `${public:NAME}`";
    let finding = Diagnostic::new(&codes::PRIVATE_HOST, message, cursor.span());
    cursor.report(finding.help(help));
}

/// Reads `allow_hosts`.
pub fn read_allowed(cursor: &Cursor<'_>) -> Vec<HostRule> {
    let mut rules = Vec::new();
    for cursor in cursor.items() {
        let Some(text) = cursor.text() else { continue };
        let rule = HostRule::parse(text);
        if rule.is_none() {
            let message = format!("`{text}` is no host");
            let help = "write `api.example.com`, `10.0.0.7:8080`, `*.example.com`, or `*` for all that are public";
            cursor.report(cursor.finding(message).help(help));
        }
        rules.extend(rule);
    }
    rules
}

fn private(url: &Url) -> Option<String> {
    let host = url.host_str()?;
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let is_private = match bare.parse::<IpAddr>() {
        Ok(ip) => !is_public(ip),
        Err(_) => {
            host == "localhost"
                || [".localhost", ".local", ".internal", ".lan"]
                    .iter()
                    .any(|end| host.ends_with(end))
        }
    };
    is_private.then(|| host.to_owned())
}
