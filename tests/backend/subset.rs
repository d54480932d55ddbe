//! What is expected of a part of a value.

use graphc::project::subset::{Difference, subset_diff};
use serde_json::{Value as Json, json};

fn shown(expected: Json, actual: Json) -> Vec<String> {
    let found = subset_diff(&expected, &actual);
    found.iter().map(Difference::to_string).collect()
}

#[test]
fn only_named_entries_count() {
    let actual = json!({ "a": { "b": 1, "c": [1, { "d": 2, "e": 3 }] }, "n": null });
    assert!(shown(json!({}), actual.clone()).is_empty());
    assert!(shown(json!({ "a": { "b": 1.0 }, "n": null }), actual.clone()).is_empty());
    assert!(shown(json!({ "a": { "c": [1, { "d": 2 }] } }), actual.clone()).is_empty());
    assert_eq!(
        shown(
            json!({ "a": { "b": 2, "c": [1, { "d": 3 }], "x": null } }),
            actual.clone()
        ),
        [
            "`a.b`: expected 2, found 1",
            "`a.c[1].d`: expected 3, found 2",
            "`a.x`: expected null, found nothing",
        ]
    );
    assert_eq!(
        shown(json!({ "a": { "c": [1] } }), actual),
        ["`a.c`: expected [1], found [1,{\"d\":2,\"e\":3}]"]
    );
    assert_eq!(shown(json!("a"), json!(1)), ["expected \"a\", found 1"]);
}
