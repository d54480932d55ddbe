//! What is found in long-term memory: every store finds alike, in the same order.

use graphc::ir::memory::space::Pattern;
use graphc::run::memory::{Filter, Near, Search, Space};
use serde_json::{Value as Json, json};

use super::remembered::{Any, delete, found, items, new, put, search, with_vectors};

async fn passing(store: &Any, filter: Json) -> Vec<String> {
    let filter = Filter::parse(&filter).unwrap();
    let mut keys = found(
        store,
        Search {
            filter,
            ..search(&[])
        },
        9,
    )
    .await;
    keys.sort();
    keys
}

async fn spaces(store: &Any, parts: &[&str], depth: Option<usize>) -> Vec<String> {
    let parts = parts.iter().map(|part| (*part).to_owned()).collect();
    let pattern = Pattern::new(parts, depth).unwrap();
    let all = items(store).spaces(&pattern.prefix(), 9).await.unwrap();
    let listed = pattern.of(all).into_iter();
    listed.map(|space| space.parts().join("/")).collect()
}

pub async fn a_search_is_of_a_namespace_and_below(store: Any) {
    for (parts, key) in [
        (&["users"][..], "top"),
        (&["users", "a"], "a1"),
        (&["users", "a", "notes"], "a2"),
        (&["users", "ab"], "ab"),
        (&["users2"], "other"),
        (&["é"], "é"),
        (&["\u{10FFFF}"], "last"),
    ] {
        put(&store, new(parts, key, json!(key)), 1).await;
    }
    assert_eq!(
        found(&store, search(&["users", "a"]), 1).await,
        ["a1", "a2"]
    );
    let users = ["top", "a1", "a2", "ab"];
    assert_eq!(found(&store, search(&["users"]), 1).await, users);
    assert_eq!(found(&store, search(&["\u{10FFFF}"]), 1).await, ["last"]);
    assert_eq!(found(&store, search(&[]), 1).await.len(), 7);
    assert!(found(&store, search(&["use"]), 1).await.is_empty());
    // What is apart is found by its root alone.
    let mut own = new(&["users", "a"], "own", json!(1));
    own.space = own.space.apart("root");
    put(&store, own.clone(), 2).await;
    assert_eq!(found(&store, search(&[]), 2).await.len(), 7);
    assert_eq!(
        found(&store, search(&["users", "a"]), 2).await,
        ["a1", "a2"]
    );
    assert_eq!(spaces(&store, &[], Some(1)).await.len(), 4);
    for (root, all) in [("root", 1), ("roo", 0), ("roots", 0)] {
        let prefix = Space::all().apart(root);
        let wanted = Search {
            prefix,
            ..search(&[])
        };
        assert_eq!(found(&store, wanted, 2).await.len(), all, "{root}");
    }
    let item = items(&store).item(&own.space, "own", 2, false).await;
    assert_eq!(item.unwrap().unwrap().space, own.space);
}

/// An object of fields within and dots say the same: what isn't there is null.
pub async fn a_filter_with_dots_is_one_of_objects(store: Any) {
    let values = [
        ("ann", json!({ "a": { "name": "Ann" } })),
        ("bob", json!({ "a": { "name": "Bob" } })),
        ("null", json!({ "a": { "name": null } })),
        ("none", json!({ "a": {} })),
        ("plain", json!({ "a": 5 })),
        ("without", json!({})),
    ];
    for (key, value) in values {
        put(&store, new(&["x"], key, value), 1).await;
    }
    for (test, keys) in [
        (json!("Ann"), &["ann"][..]),
        (
            json!({ "$ne": "Ann" }),
            &["bob", "none", "null", "plain", "without"],
        ),
        (json!(null), &["none", "null", "plain", "without"]),
        (json!({ "$gt": "B" }), &["bob"]),
    ] {
        let nested = passing(&store, json!({ "a": { "name": test } })).await;
        let dotted = passing(&store, json!({ "a.name": test })).await;
        assert_eq!(nested, keys, "{test}");
        assert_eq!(dotted, keys, "{test}");
    }
    assert_eq!(
        passing(&store, json!({ "a": {} })).await,
        ["ann", "bob", "none", "null"]
    );
}

pub async fn a_search_gives_the_newest_first_in_pages(store: Any) {
    for (key, now) in [("b", 2), ("a", 2), ("old", 1), ("new", 3), ("C", 2)] {
        put(&store, new(&["s"], key, json!(key)), now).await;
    }
    put(&store, new(&["s", "t"], "a", json!(0)), 2).await;
    let order = ["new", "C", "a", "b", "a", "old"];
    assert_eq!(found(&store, search(&["s"]), 3).await, order);
    let page = |offset, limit| Search {
        offset,
        limit,
        ..search(&["s"])
    };
    assert_eq!(found(&store, page(0, 2), 3).await, order[..2]);
    assert_eq!(found(&store, page(2, 3), 3).await, order[2..5]);
    assert_eq!(found(&store, page(5, 3), 3).await, order[5..]);
    assert!(found(&store, page(6, 3), 3).await.is_empty());
    assert!(found(&store, page(usize::MAX, 3), 3).await.is_empty());
    assert!(found(&store, page(0, 0), 3).await.is_empty());
    // What is put again is new again.
    put(&store, new(&["s"], "old", json!(0)), 4).await;
    assert_eq!(found(&store, page(0, 1), 4).await, ["old"]);
    // Pages of what passes a filter.
    let filter = Filter::parse(&json!({ "n": { "$gte": 10 } })).unwrap();
    for n in 0..200 {
        let value = json!({ "n": n % 20 });
        put(&store, new(&["many"], &format!("{n:03}"), value), 5).await;
    }
    let page = |offset| Search {
        filter: filter.clone(),
        offset,
        limit: 3,
        ..search(&["many"])
    };
    assert_eq!(found(&store, page(9), 5).await, ["019", "030", "031"]);
    assert_eq!(found(&store, page(98), 5).await, ["198", "199"]);
}

pub async fn a_search_ends_where_it_has_enough_bytes(store: Any) {
    for n in 0..10 {
        let value = json!({ "text": "x".repeat(100), "n": n });
        put(&store, new(&["b"], &n.to_string(), value), n).await;
    }
    let bytes = |most_bytes, filter: Json| Search {
        most_bytes,
        filter: Filter::parse(&filter).unwrap(),
        ..search(&["b"])
    };
    // The one that goes beyond is the last.
    let newest = found(&store, bytes(250, json!(null)), 10).await;
    assert_eq!(newest, ["9", "8", "7"]);
    let filtered = bytes(250, json!({ "n": { "$lt": 5 } }));
    assert_eq!(found(&store, filtered, 10).await, ["4", "3", "2"]);
    assert_eq!(found(&store, bytes(1, json!(null)), 10).await, ["9"]);
    assert_eq!(found(&store, bytes(9999, json!(null)), 10).await.len(), 10);
}

pub async fn a_filter_looks_into_values(store: Any) {
    for (key, value) in [
        (
            "a",
            json!({ "kind": "note", "stars": 3, "by": { "name": "Ann", "age": 30 } }),
        ),
        (
            "b",
            json!({ "kind": "note", "stars": 4.5, "tags": ["x", "y"] }),
        ),
        ("c", json!({ "kind": "fact", "stars": null, "a.b": 1 })),
        ("d", json!("note")),
        (
            "e",
            json!({ "stars": 9007199254740993_i64, "a": { "b": 1 } }),
        ),
    ] {
        put(&store, new(&["f"], key, value), 1).await;
    }
    for (filter, keys) in [
        (json!(null), &["a", "b", "c", "d", "e"][..]),
        (json!({}), &["a", "b", "c", "d", "e"]),
        (json!({ "kind": "note" }), &["a", "b"]),
        (
            json!({ "kind": { "$eq": "note" }, "stars": { "$gt": 3 } }),
            &["b"],
        ),
        (json!({ "stars": 3.0 }), &["a"]),
        (json!({ "stars": { "$gte": 3, "$lt": 4.5 } }), &["a"]),
        (json!({ "stars": { "$lte": 4.5 } }), &["a", "b"]),
        (json!({ "stars": { "$gt": 9007199254740992_i64 } }), &["e"]),
        (json!({ "kind": { "$gt": "fact" } }), &["a", "b"]),
        // What isn't there is null.
        (json!({ "kind": { "$ne": "note" } }), &["c", "d", "e"]),
        (json!({ "stars": null }), &["c", "d"]),
        (json!({ "by": { "name": "Ann" } }), &["a"]),
        (
            json!({ "by": { "name": "Ann", "age": { "$lt": 30 } } }),
            &[],
        ),
        (json!({ "by.name": "Ann" }), &["a"]),
        (json!({ "a.b": 1 }), &["c", "e"]),
        (json!({ "by": { "$eq": { "name": "Ann" } } }), &[]),
        (
            json!({ "by": { "$eq": { "age": 30, "name": "Ann" } } }),
            &["a"],
        ),
        (json!({ "tags": ["x", "y"] }), &["b"]),
        (json!({ "tags": ["y", "x"] }), &[]),
        (json!({ "'; DROP TABLE memory_items; --": 1 }), &[]),
    ] {
        assert_eq!(passing(&store, filter.clone()).await, keys, "{filter}");
    }
}

pub async fn namespaces_are_listed(store: Any) {
    for parts in [
        &["users", "a", "notes"][..],
        &["users", "a", "facts"],
        &["users", "b", "notes"],
        &["users"],
        &["teams", "x", "notes"],
        &["users", "ab", "é", "deep"],
    ] {
        put(&store, new(parts, "k", json!(1)), 1).await;
        put(&store, new(parts, "l", json!(1)), 1).await;
    }
    let all = [
        "teams/x/notes",
        "users",
        "users/a/facts",
        "users/a/notes",
        "users/ab/é/deep",
        "users/b/notes",
    ];
    assert_eq!(spaces(&store, &[], None).await, all);
    assert_eq!(spaces(&store, &["users", "a"], None).await, all[2..4]);
    assert_eq!(spaces(&store, &[], Some(1)).await, ["teams", "users"]);
    let two = ["teams/x", "users", "users/a", "users/ab", "users/b"];
    assert_eq!(spaces(&store, &[], Some(2)).await, two);
    let notes = ["teams/x/notes", "users/a/notes", "users/b/notes"];
    assert_eq!(spaces(&store, &["*", "*", "notes"], None).await, notes);
    assert_eq!(
        spaces(&store, &["users", "*", "notes"], None).await,
        notes[1..]
    );
    assert!(spaces(&store, &["user"], None).await.is_empty());
}

pub async fn what_is_near_comes_first(store: Any) {
    for item in [
        with_vectors("same", "m", &[&[1.0, 0.0]]),
        with_vectors("opposite", "m", &[&[-1.0, 0.0]]),
        with_vectors("half", "m", &[&[0.0, 1.0], &[0.6, 0.8]]),
        with_vectors("across", "m", &[&[0.0, 1.0]]),
        with_vectors("across too", "m", &[&[0.0, -1.0]]),
        with_vectors("of another model", "n", &[&[1.0, 0.0]]),
        with_vectors("longer", "m", &[&[1.0, 0.0, 0.0]]),
        with_vectors("without", "", &[]),
    ] {
        put(&store, item, 1).await;
    }
    put(&store, new(&["w"], "elsewhere", json!(1)), 1).await;
    let near = Some(Near {
        embedder: "m".to_owned(),
        vector: vec![1.0, 0.0],
    });
    let by = |offset, limit| Search {
        near: near.clone(),
        offset,
        limit,
        ..search(&["v"])
    };
    let all = items(&store).search(&by(0, 100), 2).await.unwrap();
    let all: Vec<_> = all.iter().map(|i| (i.key.as_str(), i.score)).collect();
    let expected = [
        ("same", Some(1.0)),
        ("half", Some(0.6)),
        ("across", Some(0.0)),
        ("across too", Some(0.0)),
        ("opposite", Some(-1.0)),
        ("longer", None),
        ("of another model", None),
        ("without", None),
    ];
    assert_eq!(all, expected);
    assert_eq!(found(&store, by(1, 2), 2).await, ["half", "across"]);
    let filter = Filter::parse(&json!({ "key": { "$ne": "same" } })).unwrap();
    let filtered = Search { filter, ..by(0, 1) };
    assert_eq!(found(&store, filtered, 2).await, ["half"]);
    // What is put again has the vectors of then alone.
    put(&store, with_vectors("opposite", "m", &[&[1.0, 0.0]]), 3).await;
    put(&store, with_vectors("same", "m", &[]), 3).await;
    assert_eq!(found(&store, by(0, 1), 4).await, ["opposite"]);
    let all = items(&store).search(&by(0, 100), 4).await.unwrap();
    assert_eq!((all[4].key.as_str(), all[4].score), ("same", None));
    delete(&store, &["v"], "opposite", 5).await;
    assert_eq!(found(&store, by(0, 1), 6).await, ["half"]);
}

pub async fn names_of_namespaces_are_checked(_: Any) {
    let refused = |parts: &[&str]| {
        let parts = parts.iter().map(|part| (*part).to_owned()).collect();
        Space::new(parts).unwrap_err()
    };
    assert_eq!(refused(&[]), "a namespace has at least one part");
    let empty = "a part of the namespace `[\"a\",\"\"]` is empty";
    assert_eq!(refused(&["a", ""]), empty);
    assert!(refused(&["*"]).contains("stands for any part"));
    assert!(refused(&["$thread"]).contains("begins with `$`"));
    assert!(refused(&["a\0b"]).contains("U+0000"));
    assert!(refused(&["x".repeat(1000).as_str()]).contains("at most 1000 bytes"));
    assert!(graphc::ir::memory::space::key("").is_err());
    for (filter, why) in [
        (
            json!({ "a": { "$in": [1] } }),
            "a filter has no operator `$in` (of `a`); there is `$eq`",
        ),
        (json!({ "$gt": 1 }), "a filter begins with fields"),
        (
            json!({ "a": { "$gt": null } }),
            "`$gt` (of `a`) compares with a number or a text",
        ),
        (
            json!({ "a": { "$eq": 1, "b": 2 } }),
            "a filter has no operator `b`",
        ),
        (json!([1]), "a filter is an object of fields"),
    ] {
        let error = Filter::parse(&filter).unwrap_err();
        assert!(error.starts_with(why), "{error}");
    }
}
