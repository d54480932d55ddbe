//! Names that lead to public addresses alone.

use std::io;
use std::net::SocketAddr;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use tracing::warn;

use crate::base::log::HTTP;
use crate::project::spec::address::is_public;

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
