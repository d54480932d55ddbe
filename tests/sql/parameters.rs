//! What a statement is read to be: its parameters, and whether it writes.

use graphc::project::spec::sql::query::{Dialect, Query};

#[test]
fn parameters_are_found_where_the_database_finds_them() {
    let cases = [
        (
            Dialect::Sqlite,
            "SELECT :a, ':b', \":c\", `:d`, [:e], x'0a' -- :f\n, :a /* :g */",
            "a",
        ),
        (
            Dialect::Sqlite,
            "SELECT a FROM t WHERE b = :b AND c > :c_1;",
            "b c_1",
        ),
        (
            Dialect::Postgres,
            "SELECT a::text, $$:b$$, $t$ :c $$ $t$, e'\\':d', x[1:2] /* /* :e */ :f */ FROM t WHERE a = :g",
            "g",
        ),
        (
            Dialect::Postgres,
            "SELECT 'it''s :a', j ? 'k', :b::int",
            "b",
        ),
    ];
    for (dialect, text, names) in cases {
        let query = Query::parse(text, dialect).map(|query| query.names().join(" "));
        assert_eq!(query, Ok(names.to_owned()), "{text}");
    }
}

#[test]
fn names_become_numbers() {
    let text = "UPDATE t SET a = :b, c = ':b' WHERE d = :d AND e = :b";
    let query = Query::parse(text, Dialect::Postgres).map(|query| query.numbered());
    let numbered = "UPDATE t SET a = $1, c = ':b' WHERE d = $2 AND e = $1";
    assert_eq!(query, Ok(numbered.to_owned()));
}

#[test]
fn what_is_no_query_of_one_statement_is_refused() {
    for (dialect, text, said) in [
        (Dialect::Sqlite, " -- only this\n;", "no SQL statement"),
        (Dialect::Sqlite, "SELECT 1; SELECT 2", "second statement"),
        (Dialect::Sqlite, "SELECT 1 \0", "U+0000"),
        (Dialect::Sqlite, "SELECT ?1", "`?1`"),
        (Dialect::Sqlite, "SELECT @a", "`@a`"),
        (Dialect::Sqlite, "SELECT $a", "`$a`"),
        (Dialect::Postgres, "SELECT $1", "`$1`"),
    ] {
        let refused = Query::parse(text, dialect).map_err(|fault| fault.message);
        assert!(
            refused.as_ref().is_err_and(|m| m.contains(said)),
            "{refused:?}"
        );
    }
    for text in [
        "SELECT 1;",
        "SELECT 1 ; -- done\n",
        "SELECT ';'",
        "SELECT 'open",
    ] {
        assert!(Query::parse(text, Dialect::Sqlite).is_ok(), "{text}");
    }
}

#[test]
fn writing_is_seen_at_its_word() {
    for (text, writes) in [
        ("select 1", None),
        ("WITH a AS (SELECT 1) SELECT * FROM a", None),
        (
            "WITH a AS (SELECT 1) INSERT INTO t SELECT * FROM a",
            Some("INSERT"),
        ),
        ("update t set a = 1", Some("UPDATE")),
        ("VACUUM", Some("VACUUM")),
        ("SELECT * FROM t WHERE a = 'DELETE'", None),
    ] {
        let query = Query::parse(text, Dialect::Sqlite);
        let found = query.map(|query| query.writes().map(str::to_owned));
        assert_eq!(found, Ok(writes.map(str::to_owned)), "{text}");
    }
}
