//! Which hosts a request may go to, and which of them only this machine or its network can reach.

use graphc::base::SourceMap;
use graphc::project::config;
use graphc::project::spec::address::is_public;
use graphc::project::spec::http::host::{Allowed, HostRule, allowed, is_filled_in};
use reqwest::Url;

#[test]
fn hosts_are_allowed_by_their_names_and_by_stars_if_public() {
    let rules = [
        "api.example.com",
        "10.0.0.7:8080",
        "*.Example.org",
        "[::1]:80",
    ];
    let rules: Vec<_> = rules
        .iter()
        .map(|text| HostRule::parse(text).expect("a rule"))
        .collect();
    let how = |url: &str| allowed(&Url::parse(url).expect("an address"), &rules).ok();
    for (url, is) in [
        ("https://api.example.com/x", Some(Allowed::Named)),
        ("https://API.example.com.:444/x", Some(Allowed::Named)),
        ("https://api.example.com.evil.net/", None),
        ("http://10.0.0.7:8080/", Some(Allowed::Named)),
        ("http://167772167:8080/", Some(Allowed::Named)),
        ("http://10.0.0.7/", None),
        ("http://[::1]/", Some(Allowed::Named)),
        ("http://a.example.org/", Some(Allowed::IfPublic)),
        ("http://example.org/", None),
        ("http://aexample.org/", None),
    ] {
        assert_eq!(how(url), is, "{url}");
    }
    let any = [HostRule::parse("*").expect("a rule")];
    let any = |url: &str| allowed(&Url::parse(url).expect("an address"), &any).is_ok();
    assert!(any("http://8.8.8.8/") && any("http://localhost/"));
    for url in [
        "http://127.1/",
        "http://2130706433/",
        "http://0x7f.1/",
        "http://[::ffff:10.0.0.1]/",
    ] {
        assert!(!any(url), "{url}");
    }
    for text in [
        "",
        "a/b",
        "*example.com",
        "a:b",
        "http://a",
        "u@a",
        "*.",
        "a b",
    ] {
        assert_eq!(HostRule::parse(text), None, "{text}");
    }
}

#[test]
fn a_host_is_filled_in_ahead_of_the_path() {
    for (template, is) in [
        ("https://a.example/x/{{ args.id }}", false),
        ("https://a.example?x={{ args.id }}", false),
        ("https://a.example", false),
        ("https://{{ args.host }}/x", true),
        ("https://a.example{{ args.rest }}", true),
        ("{{ args.url }}", true),
        ("https://a.example:{% if args.x %}1{% endif %}/", true),
    ] {
        assert_eq!(is_filled_in(template), is, "{template}");
    }
}

#[test]
fn public_addresses_are_told_from_others() {
    let public = |text: &str| is_public(text.parse().expect("an address"));
    for text in [
        "8.8.8.8",
        "172.40.0.1",
        "100.128.0.1",
        "2a00:1450::1",
        "::ffff:8.8.8.8",
        "64:ff9b::808:808",
    ] {
        assert!(public(text), "{text}");
    }
    for text in [
        "127.0.0.1",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "0.0.0.0",
        "100.64.0.1",
        "224.0.0.1",
        "255.255.255.255",
        "198.18.0.1",
        "192.0.0.1",
        "::",
        "::1",
        "fe80::1",
        "fec0::1",
        "fd00::1",
        "ff02::1",
        "::ffff:127.0.0.1",
        "::127.0.0.1",
        "64:ff9b::7f00:1",
        "64:ff9b:1::1",
        "2002:7f00:1::",
        "2001:db8::1",
    ] {
        assert!(!public(text), "{text}");
    }
}

#[test]
fn private_hosts_are_told_from_public_ones() {
    let noted = |url: &str| {
        let mut sources = SourceMap::new();
        let yaml = format!("tools: {{ t: {{ http: {{ url: \"{url}\" }} }} }}\n");
        let file = sources.add("graphc.yaml", &yaml);
        let config = config::load(&sources, file, None, &|_| None).unwrap();
        let mut doubts = config.doubts.iter();
        doubts.any(|doubt| doubt.code.slug == "private-host")
    };
    for url in [
        "http://localhost:8080/x",
        "http://127.0.0.1/",
        "http://10.1.2.3/",
        "https://172.20.0.4/a",
        "http://192.168.1.1",
        "http://169.254.169.254/latest",
        "http://[::1]:80/",
        "http://db.internal/",
    ] {
        assert!(noted(url), "{url}");
    }
    for url in [
        "https://kb.example/x",
        "http://172.40.0.1/",
        "http://8.8.8.8/",
    ] {
        assert!(!noted(url), "{url}");
    }
}
