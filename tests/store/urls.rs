//! How a store is named.

use graphc::store;

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
