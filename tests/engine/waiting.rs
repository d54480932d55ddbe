//! What waits until nothing else is left.

use graphc::run::store::FieldImage;
use graphc::run::waiting::{entries, remade};
use graphc::value::Value;
use serde_json::json;

#[test]
fn entries_that_are_remade_keep_their_order() {
    let entry = |n| Value::from_json(&json!({ "node": "a", "input": n }));
    let list = [1, 2].map(entry);
    let field = FieldImage {
        value: Value::List(list.into_iter().collect()),
        changes: 2,
    };
    let made = remade(&field, |_, input| {
        Ok::<_, std::convert::Infallible>(("b".to_owned(), input))
    });
    let Ok(made) = made;
    let read: Vec<(&str, Value)> = entries(Some(&made)).collect();
    assert_eq!(read, [("b", Value::Int(1)), ("b", Value::Int(2))]);
    assert_eq!(made.changes, 2);
}
