//! Which servers a request may reach whose host is filled in from arguments.

use std::net::IpAddr;

use url::Url;

use crate::project::spec::address::is_public;

/// A line of `allow_hosts`: `api.example.com`, `10.0.0.7:8080`, `*.example.com`, or `*`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostRule {
    host: Host,
    /// The port; any where none is written.
    port: Option<u16>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Host {
    /// This name or address, wherever it leads.
    Is(String),
    /// Names that end like this (`.example.com`, or all), as far as they lead to public addresses.
    Public(String),
}

/// How a request may go to a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allowed {
    /// The host itself is listed.
    Named,
    /// A `*` allows it: its addresses have to be public.
    IfPublic,
}

impl HostRule {
    /// Reads a line; `None` where it is none.
    pub fn parse(text: &str) -> Option<Self> {
        let (host, port) = match text.rsplit_once(':') {
            Some((host, port)) if !host.contains(':') || host.ends_with(']') => {
                (host, Some(port.parse().ok()?))
            }
            _ => (text, None),
        };
        let host = match host.strip_prefix('*') {
            Some("") => Host::Public(String::new()),
            Some(domain) => Host::Public(format!(".{}", name(domain.strip_prefix('.')?)?)),
            None => Host::Is(name(host)?),
        };
        Some(Self { host, port })
    }

    fn allows(&self, url: &Url) -> Option<Allowed> {
        let host = url.host_str()?;
        let host = host.strip_suffix('.').unwrap_or(host);
        if self.port.is_some() && self.port != url.port_or_known_default() {
            return None;
        }
        match &self.host {
            Host::Is(name) => (name == host).then_some(Allowed::Named),
            Host::Public(end) => {
                (host.ends_with(end.as_str()) && !is_private(host)).then_some(Allowed::IfPublic)
            }
        }
    }
}

/// Whether a host is an address that is not public.
fn is_private(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    bare.parse::<IpAddr>().is_ok_and(|ip| !is_public(ip))
}

/// A host as addresses have it: lower case, numbers as dotted ones.
fn name(text: &str) -> Option<String> {
    let plain = !text.is_empty() && !text.contains(['/', '\\', '?', '#', '@', '*', ' ']);
    let url = Url::parse(&format!("http://{text}/"))
        .ok()
        .filter(|_| plain)?;
    let host = url.host_str()?;
    Some(host.strip_suffix('.').unwrap_or(host).to_owned())
}

/// How a host that arguments have filled in may be reached.
///
/// # Errors
/// What to list, in words.
pub fn allowed(url: &Url, rules: &[HostRule]) -> Result<Allowed, String> {
    let found: Vec<_> = rules.iter().filter_map(|rule| rule.allows(url)).collect();
    match found.contains(&Allowed::Named) {
        true => Ok(Allowed::Named),
        false => found.first().copied().ok_or_else(|| {
            let host = url.host_str().unwrap_or_default();
            let star = rules
                .iter()
                .any(|rule| matches!(rule.host, Host::Public(_)));
            let star = match star && is_private(host) {
                true => "; a `*` is for public hosts, and this one is private",
                false => "",
            };
            format!("`allow_hosts` in graphc.yaml does not list the host `{host}`{star}")
        }),
    }
}

/// Whether arguments may be part of a template's host: whether anything is filled in ahead of its path.
pub fn is_filled_in(template: &str) -> bool {
    let Some(at) = ["{{", "{%"]
        .iter()
        .filter_map(|open| template.find(open))
        .min()
    else {
        return false;
    };
    let fixed = template.get(..at).unwrap_or_default();
    let rest = fixed.split_once("://").map(|(_, rest)| rest);
    !rest.is_some_and(|rest| rest.contains(['/', '?', '#']))
}
