//! Addresses that anybody on the internet may be meant by, and names that lead to such ones alone.
//!
//! Ranges follow the IANA registries of special-purpose addresses (RFC 6890).

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use tracing::warn;

use crate::base::log::HTTP;

/// Whether an address is one of the public internet: not of this machine, a private network, a link, or a special purpose. An IPv6
/// address that holds an IPv4 one (mapped, NAT64, 6to4) is what that one is.
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

/// Finds the addresses of a name and leaves out those that are not public. It stands in the client, so that what was looked at
/// is what is connected to.
pub struct PublicOnly;

impl Resolve for PublicOnly {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let name = name.as_str().to_owned();
            let found: Vec<_> = tokio::net::lookup_host((name.as_str(), 0)).await?.collect();
            let public: Vec<SocketAddr> =
                found.into_iter().filter(|at| is_public(at.ip())).collect();
            if public.is_empty() {
                warn!(target: HTTP, host = name, "private address refused");
                let why = format!(
                    "`{name}` has no public address, and `allow_hosts` doesn't name it: a `*` is for public hosts"
                );
                return Err(io::Error::other(why).into());
            }
            Ok(Box::new(public.into_iter()) as Addrs)
        })
    }
}
