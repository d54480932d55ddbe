//! How a store is named.

use std::path::Path;

use graphc::store::{self, Server};
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;

use super::records::message;

#[test]
fn a_path_is_taken_from_the_base() {
    let base = super::folder();
    store::open("sqlite:deep/er/threads.db", &base).unwrap();
    assert!(base.join("deep/er/threads.db").is_file());
    let absolute = base.join("absolute.db");
    store::open(
        &format!("sqlite:{}", absolute.display()),
        "/nowhere".as_ref(),
    )
    .unwrap();
    assert!(absolute.is_file());
    store::open("memory", &base).unwrap();
}

#[test]
fn what_is_no_store_is_refused() {
    let cases = [
        (
            "mysql://u:secret@h/db",
            "unknown store `mysql`: expected `sqlite:PATH`, `postgres://USER:PASSWORD@HOST/DATABASE` or `memory`",
        ),
        (
            "postgre://u:secret@h/db",
            "unknown store `postgre`: expected `sqlite:PATH`, `postgres://USER:PASSWORD@HOST/DATABASE` or `memory`; \
             did you mean `postgres`?",
        ),
        (
            "sqlit:x",
            "unknown store `sqlit`: expected `sqlite:PATH`, `postgres://USER:PASSWORD@HOST/DATABASE` or `memory`; \
             did you mean `sqlite`?",
        ),
        (
            "postgres:/x",
            "the address of the store has no `//` behind `postgres:`: expected `sqlite:PATH`",
        ),
        ("", "unknown store ``: expected `sqlite:PATH`"),
        (
            "memory:",
            "a store in memory has no path: write `memory` alone",
        ),
        (
            "postgres://u:secret@h:port/db",
            "the address `postgres://..` isn't one that PostgreSQL understands",
        ),
        (
            "postgres://u:secret@127.0.0.1:1/db?schema=x",
            "the store `postgres://127.0.0.1:1/db?schema=x` can't be opened: no connection to the server can be made: ",
        ),
        (
            "postgres://u:secret@/db?host=/nowhere",
            "the store `postgres:///db?host=/nowhere` can't be opened: no connection to the server can be made: ",
        ),
        ("sqlite:", "the store `sqlite:` names no file"),
        (
            "sqlite::memory:",
            "the store `sqlite::memory:` isn't a file",
        ),
        (
            "sqlite://threads.db",
            "the store `sqlite://threads.db` has two slashes",
        ),
    ];
    for (url, expected) in cases {
        let refusal = message(store::open(url, &super::folder()));
        assert!(refusal.starts_with(expected), "{refusal}");
        assert!(!refusal.contains("secret"), "{refusal}");
    }
}

#[test]
fn what_is_shown_has_no_secret() {
    let cases = [
        (
            "postgres://ann:hunter2@db.example.com/flows",
            "postgres://db.example.com/flows",
        ),
        (
            "postgresql://ann:hunter2@db:6543/flows?schema=a%20b&connect_timeout=3",
            "postgres://db:6543/flows?schema=a b",
        ),
        (
            "postgres:///flows?host=/tmp/x&port=5433&password=hunter2",
            "postgres:///flows?host=/tmp/x&port=5433",
        ),
        (
            "postgres://%2Ftmp%2Fx/flows?user=ann",
            "postgres:///flows?host=/tmp/x",
        ),
    ];
    for (url, shown) in cases {
        assert_eq!(store::shown(url, Path::new("/base")), shown);
    }
}

/// The first that a server is sent by who wants encryption.
const SSL_REQUEST: [u8; 8] = [0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f];

#[tokio::test]
async fn who_asks_for_encryption_gets_it() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    for place in [
        format!("postgres://u@127.0.0.1:{port}/d?"),
        format!("postgres:///d?user=u&host=127.0.0.1&port={port}&"),
        format!("postgres:///d?user=u&hostaddr=127.0.0.1&port={port}&"),
        format!("postgres://u@127.0.0.1:{port},localhost:{port}/d?"),
    ] {
        for mode in ["require", "verify-ca", "verify-full", "prefer"] {
            let url = format!("{place}sslmode={mode}");
            let server = Server::parse(&url, Path::new("/base"));
            let server = server.unwrap_or_else(|error| panic!("{url}: {error}"));
            let asked = async {
                let (mut stream, _) = listener.accept().await.unwrap();
                let mut first = [0; 8];
                stream.read_exact(&mut first).await.unwrap();
                first
            };
            tokio::select! {
                first = asked => assert_eq!(first, SSL_REQUEST, "{url}"),
                _ = server.connect() => panic!("{url}: nothing was asked"),
            }
        }
    }
}

#[test]
fn wrong_addresses_are_refused_without_a_word_of_them() {
    let long = format!("postgres://h/d?schema={}", "s".repeat(64));
    let cases = [
        ("postgres://u:hunter2@h:no/d", "isn't one that PostgreSQL"),
        ("postgres://u:hun?ter2@h/d", "has an option behind its `?`"),
        ("postgres://h/d?schma=x", "has `schma` behind its `?`"),
        ("postgres://h/d?schma=x", "did you mean `schema`?"),
        (
            "postgres:///d?password=hu&hun=ter2",
            "has an option behind its `?`",
        ),
        (
            "postgres://h/d?connect_timeout=abc&user=u",
            "has a value for `connect_timeout`",
        ),
        ("postgres://h/d?schema=", "has no name for `schema`"),
        (
            "postgres://h/d?schema=pg_toast",
            "which is PostgreSQL's own",
        ),
        ("postgres://h/d?schema=a%00", "has U+0000"),
        (&long, "of more than 63 bytes"),
        (
            "postgres://h/d?sslmode=verify_full",
            "did you mean `verify-full`?",
        ),
        ("postgres://h/d?sslmode=allow", "`sslmode`"),
        (
            "postgres://h/d?sslmode=require&sslrootcert=no.pem",
            "no.pem",
        ),
        ("postgres://h/d?statement_timeout=0", "seconds from 1 to"),
        ("postgres://h/d?reconnect_timeout=-1", "seconds from 0 to"),
    ];
    for (url, expected) in cases {
        let parsed = Server::parse(url, Path::new("/base"));
        let refusal = message(parsed.map(|server| server.shown().to_owned()));
        assert!(refusal.contains(expected), "{url}: {refusal}");
        assert!(!refusal.contains("hun"), "{refusal}");
    }
}
