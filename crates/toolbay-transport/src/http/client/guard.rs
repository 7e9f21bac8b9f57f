//! Which addresses a name may lead to. A public name that leads into a private network is an attack, or a mistake: whoever
//! owns the name decides where it leads, not whoever wrote it into a configuration.

use std::{
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    task::{Context, Poll},
    vec,
};

use futures_util::future::{BoxFuture, FutureExt};
use hyper_util::client::legacy::connect::dns::{GaiResolver, Name};
use tower_service::Service;

use crate::{Error, Kind};

/// Where a name may lead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    /// Wherever it does.
    #[default]
    Anywhere,
    /// Into a private network, or to this machine, only where it says so itself: a number, `localhost`, a name without a
    /// dot, or one that is kept for private use.
    AsNamed,
}

/// Looks names up, and keeps to that.
#[derive(Clone)]
pub(super) struct Resolver {
    reach: Reach,
    system: GaiResolver,
}

impl Resolver {
    pub(super) fn new(reach: Reach) -> Self {
        Self { reach, system: GaiResolver::new() }
    }
}

impl Service<Name> for Resolver {
    type Response = vec::IntoIter<SocketAddr>;
    type Error = io::Error;
    type Future = BoxFuture<'static, io::Result<Self::Response>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.system.poll_ready(cx)
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let (reach, looking) = (self.reach, self.system.call(name.clone()));
        async move { allowed(reach, name.as_str(), looking.await?.collect()).map(Vec::into_iter) }.boxed()
    }
}

/// Those of the addresses of a name that may be called.
fn allowed(reach: Reach, name: &str, found: Vec<SocketAddr>) -> io::Result<Vec<SocketAddr>> {
    if reach == Reach::Anywhere || !is_public(name) {
        return Ok(found);
    }
    // One is enough to refuse all: the next look could bring that one alone.
    match found.iter().find(|address| is_private(address.ip())) {
        None => Ok(found),
        Some(private) => {
            let what = format!(
                "the public name {name} leads to the private address {}: refused; if it is meant, write that address",
                private.ip()
            );
            Err(io::Error::other(Error::new(Kind::Unreachable, what)))
        }
    }
}

/// Whether a host, as an address has it, says itself that it lies within a private network or on this machine: a number of
/// such a network, a name without a dot, or one that is kept for private use. Where a public name leads is not looked up.
pub fn names_private(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(['.', ']']);
    match host.parse::<IpAddr>() {
        Ok(address) => is_private(address),
        // What ends with a number is read as one, however it is written.
        Err(_) => {
            !is_public(host)
                || host.rsplit('.').next().is_some_and(|last| last.starts_with(|c: char| c.is_ascii_digit()))
        }
    }
}

/// Whether a name is one of the public network.
fn is_public(name: &str) -> bool {
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    let last = name.rsplit_once('.').map(|(_, last)| last);
    // spec: RFC 6761, RFC 8375, and what ICANN keeps for private use
    last.is_some_and(|last| {
        !["localhost", "local", "internal", "lan", "home", "corp", "intranet", "test"].contains(&last)
    }) && !name.ends_with(".home.arpa")
}

fn is_private(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_private_v4(address),
        IpAddr::V6(address) => is_private_v6(address),
    }
}

fn is_private_v4(address: Ipv4Addr) -> bool {
    let [first, second, third, _] = address.octets();
    address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_multicast()
        || first == 0
        || first >= 240
        || (first == 100 && (64..128).contains(&second))
        || (first == 192 && second == 0 && third == 0)
        || (first == 198 && (18..20).contains(&second))
}

fn is_private_v6(address: Ipv6Addr) -> bool {
    let inner = address.to_ipv4_mapped().or_else(|| match address.segments() {
        // Those that stand for an older address.
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] | [0x2002, high, low, ..] => {
            Some(Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low)))
        }
        _ => None,
    });
    address.is_loopback()
        || address.is_unspecified()
        || address.is_multicast()
        || address.is_unique_local()
        || address.is_unicast_link_local()
        || inner.is_some_and(is_private_v4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_public_name_never_leads_into_a_private_network() {
        let check = |name: &str, address: &str| {
            let address = SocketAddr::new(address.parse().unwrap(), 80);
            allowed(Reach::AsNamed, name, vec![address]).is_ok()
        };
        for private in [
            "127.0.0.1",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "0.0.0.0",
            "198.18.0.1",
            "255.255.255.255",
            "::1",
            "fd00::1",
            "fe80::1",
            "::ffff:10.0.0.1",
            "64:ff9b::7f00:1",
            "2002:7f00:1::",
        ] {
            assert!(!check("api.example.com", private), "{private}");
            assert!(!check("api.example.com.", private), "{private}");
            for name in ["localhost", "mcp-server", "printer.local", "box.home.arpa", "a.b.internal"] {
                assert!(check(name, private), "{name} {private}");
            }
        }
        for public in ["1.1.1.1", "2606:4700::1111", "172.32.0.1", "100.128.0.1"] {
            assert!(check("api.example.com", public), "{public}");
        }
        let both = vec!["1.1.1.1:80".parse().unwrap(), "10.0.0.1:80".parse().unwrap()];
        assert!(allowed(Reach::AsNamed, "api.example.com", both.clone()).is_err());
        assert_eq!(allowed(Reach::Anywhere, "api.example.com", both.clone()).unwrap(), both);
    }
}
