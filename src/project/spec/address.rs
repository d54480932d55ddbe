//! Addresses of servers, as settings write them, and those that anybody on the internet may be meant by.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use url::Url;

/// The address of a server that is reached over HTTP: `http` or `https`, and a host.
pub fn web_address(text: &str) -> Option<Url> {
    let url = Url::parse(text).ok()?;
    (matches!(url.scheme(), "http" | "https") && url.has_host()).then_some(url)
}

/// Whether an address is one of the public internet: not of this machine, a private network, a link, or a special purpose. An IPv6
/// address that holds an IPv4 one (mapped, NAT64, 6to4) is what that one is. Ranges follow the IANA registries of special-purpose addresses (RFC 6890).
pub fn is_public(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => is_public_v4(ip),
        IpAddr::V6(ip) => is_public_v6(ip),
    }
}

fn is_public_v4(ip: Ipv4Addr) -> bool {
    let special = match ip.octets() {
        [0 | 240..=255, ..] => true,
        [100, second, ..] => (64..128).contains(&second),
        [192, 0, 0, _] | [192, 88, 99, _] => true,
        [198, second, ..] => second == 18 || second == 19,
        _ => false,
    };
    !(special
        || ip.is_private()
        || ip.is_loopback()
        || ip.is_link_local()
        || ip.is_multicast()
        || ip.is_documentation())
}

fn is_public_v6(ip: Ipv6Addr) -> bool {
    let v4 = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        is_public_v4(Ipv4Addr::new(a, b, c, d))
    };
    match ip.segments() {
        [0, 0, 0, 0, 0, 0xffff, high, low] => v4(high, low),
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => v4(high, low),
        [0x2002, high, low, ..] => v4(high, low),
        // Teredo, benchmarking, ORCHID, documentation.
        [0x2001, second, ..] => second >= 0x200 && second != 0xdb8,
        [0x3fff, second, ..] => second >= 0x1000,
        // Global unicast is all that has been given out.
        [first, ..] => (0x2000..0x4000).contains(&first),
    }
}

/// The addresses that a store may have.
pub const STORE_FORMS: &str = "`sqlite:PATH`, `postgres://USER:PASSWORD@HOST/DATABASE` or `memory`";

/// Whether what stands behind `sqlite:` is the path of a file. That of `sqlite://threads.db` is not: as a URL it would name a
/// host, as a path the root folder.
pub fn is_file_path(path: &str) -> bool {
    !path.is_empty() && (!path.starts_with("//") || path.starts_with("///"))
}
