//! Paths to a part of a reply.

use graphc::project::spec::http::select::Selector;
use serde_json::{Value as Json, json};

#[test]
fn paths_lead_to_parts() {
    let reply = json!({ "hits": [{ "a b": 1 }], "n": null });
    let of = |path: &str| Selector::parse(path).unwrap().of(&reply).cloned();
    assert_eq!(of("$"), Some(reply.clone()));
    assert_eq!(of("$.hits[0][\"a b\"]"), Some(json!(1)));
    assert_eq!(of("$['n']"), Some(Json::Null));
    assert_eq!(of("$.hits[1]"), None);
    assert_eq!(of("$.hits.x"), None);
    for wrong in [
        "hits", "$hits", "$.", "$[", "$[x]", "$['a", "$.a..b", "$[-1]",
    ] {
        assert!(Selector::parse(wrong).is_err(), "{wrong}");
    }
}
