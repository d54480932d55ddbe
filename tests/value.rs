//! Values: persistent lists and maps against the plain ones, order, size, JSON and back.

use std::collections::BTreeMap;

use graphc::value::{Key, List, MAX_DEPTH, Map, Value};
use proptest::prelude::*;

#[derive(Debug, Clone)]
enum Change {
    Put(u8, i64),
    Remove(u8),
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        3 => (0u8..60, any::<i64>()).prop_map(|(key, value)| Change::Put(key, value)),
        1 => (0u8..60).prop_map(Change::Remove),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::Int),
        (-3i64..3).prop_map(Value::Int),
        any::<u64>().prop_map(Value::Uint),
        any::<f64>().prop_map(Value::Float),
        (-3i32..3).prop_map(|i| Value::Float(i.into())),
        "[a-c$]{0,3}".prop_map(Value::from),
        any::<Vec<u8>>().prop_map(|bytes| Value::Bytes(bytes.into())),
        (-9_999_999i64..9_999_999, 0i32..999)
            .prop_map(|(s, n)| Value::Timestamp(jiff::Timestamp::new(s, n).unwrap())),
        (-9_999_999i64..9_999_999)
            .prop_map(|s| Value::Duration(jiff::SignedDuration::from_millis(s))),
        Just(Value::Type("int".into())),
        Just(Value::Optional(None)),
    ];
    leaf.prop_recursive(3, 60, 40, |inner| {
        let key = prop_oneof![
            "[a-c$]{0,3}".prop_map(|text| Key::from(text.as_str())),
            any::<i64>().prop_map(Key::Int),
            any::<bool>().prop_map(Key::Bool),
        ];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..40).prop_map(Value::from),
            prop::collection::vec((key, inner.clone()), 0..20)
                .prop_map(|entries| Value::Map(entries.into_iter().collect())),
            inner.prop_map(|value| Value::Optional(Some(value.into()))),
        ]
    })
}

proptest! {
    /// Also that a clone keeps what it had, and that a flat map becomes a tree without loss.
    #[test]
    fn map_is_a_btree_map(changes in prop::collection::vec(change(), 0..80)) {
        let (mut map, mut model) = (Map::new(), BTreeMap::new());
        for change in changes {
            let before = (map.clone(), model.clone());
            match change {
                Change::Put(key, value) => {
                    map.insert(format!("{key}").as_str(), Value::Int(value));
                    model.insert(format!("{key}"), value);
                }
                Change::Remove(key) => {
                    let key = format!("{key}");
                    let removed = map.remove(&Key::from(key.as_str()));
                    prop_assert_eq!(removed, model.remove(&key).is_some());
                }
            }
            agree(&before.0, &before.1)?;
            agree(&map, &model)?;
        }
    }

    #[test]
    fn list_is_a_vec(items in prop::collection::vec(any::<i64>(), 0..100), at in 0usize..100) {
        let mut pushed = List::new();
        for item in &items {
            let before = pushed.clone();
            pushed.push(Value::Int(*item));
            prop_assert_eq!(before.len() + 1, pushed.len());
        }
        let collected: List = items.iter().map(|i| Value::Int(*i)).collect();
        prop_assert_eq!(&pushed, &collected);
        prop_assert_eq!(pushed.put(at, Value::Null), at < items.len());
        prop_assert_eq!(pushed.get(at).is_some_and(Value::is_null), at < items.len());
        let back: Vec<Value> = collected.iter().rev().cloned().collect();
        prop_assert_eq!(back.len(), items.len());
        prop_assert_eq!(back.last(), collected.first());
    }

    #[test]
    fn stored_values_come_back(value in value()) {
        let back = Value::from_stored(&value.to_stored()).unwrap();
        prop_assert!(back.compare_any(&value).is_eq(), "{value:?} became {back:?}");
        prop_assert_eq!(format!("{back:?}"), format!("{value:?}"));
    }

    #[test]
    fn any_order_is_total(a in value(), b in value(), c in value()) {
        prop_assert!(a.compare_any(&a).is_eq());
        prop_assert_eq!(a.compare_any(&b), b.compare_any(&a).reverse());
        if a.compare_any(&b).is_le() && b.compare_any(&c).is_le() {
            prop_assert!(a.compare_any(&c).is_le());
        }
    }
}

fn agree(map: &Map, model: &BTreeMap<String, i64>) -> Result<(), TestCaseError> {
    prop_assert_eq!(map.len(), model.len());
    for ((key, value), (wanted_key, wanted)) in map.iter().zip(model) {
        prop_assert_eq!(key.as_str(), Some(wanted_key.as_str()));
        prop_assert_eq!(value, &Value::Int(*wanted));
        prop_assert_eq!(map.get(wanted_key), Some(value));
    }
    Ok(())
}

#[test]
fn an_int_and_a_uint_are_one_key() {
    let mut map = Map::new();
    map.insert(Key::Int(1), Value::from("int"));
    map.insert(Key::Uint(1), Value::from("uint"));
    assert_eq!(map.len(), 1);
    assert_eq!(map.get_key(&Key::Int(1)), Some(&Value::from("uint")));
}

#[test]
fn size_follows_changes() {
    let mut map = Map::new();
    let text = "x".repeat(1600);
    for _ in 0..1000 {
        map.insert("a", Value::from(text.as_str()));
    }
    assert!(Value::Map(map.clone()).weight() < 120);
    map.remove(&Key::from("a"));
    assert_eq!(Value::Map(map).weight(), 1);
}

#[test]
fn depth_has_a_bound() {
    let mut value = Value::Null;
    for _ in 0..MAX_DEPTH {
        value = Value::from(vec![value]);
    }
    assert_eq!(value.check_size(), Ok(()));
    assert!(Value::from(vec![value]).check_size().is_err());
}
