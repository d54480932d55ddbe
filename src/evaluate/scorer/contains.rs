//! `contains`: which share of what is expected is there.

use crate::value::Value;

use super::{Given, cut, same};

/// How many of the expected texts a text holds, or of the expected elements a list.
pub fn share(value: &Value, expected: &Value, any_case: bool) -> Given {
    let wanted: Vec<&Value> = match expected {
        Value::List(all) => all.iter().collect(),
        one => vec![one],
    };
    let holds = |one: &&&Value| -> Result<bool, String> {
        match (value, one.as_str()) {
            (Value::String(text), Some(part)) if any_case => {
                Ok(text.to_lowercase().contains(&part.to_lowercase()))
            }
            (Value::String(text), Some(part)) => Ok(text.contains(part)),
            (Value::List(items), _) => Ok(items.iter().any(|item| same(item, one))),
            (Value::String(_), None) => Err(format!("{} is no text to look for", shown(one))),
            _ => Err(format!("{} is neither a text nor a list", shown(value))),
        }
    };
    let mut missing = Vec::new();
    for one in &wanted {
        if !holds(&one)? {
            missing.push(shown(one));
        }
    }
    let score = match wanted.len() {
        0 => 1.0,
        all => (all - missing.len()) as f64 / all as f64,
    };
    let reason = match missing.is_empty() {
        true => None,
        false => Some(format!("without {}", missing.join(", "))),
    };
    Ok((score, reason))
}

fn shown(value: &Value) -> String {
    cut(&value.to_json().to_string())
}
