//! What fields of a value must be.

use std::cmp::Ordering;

use serde_json::{Map as JsonMap, Value as Json};

/// Conditions on a value, all of which must hold.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Filter(Vec<(String, Test)>);

/// What a field must be. One that isn't there counts as null.
#[derive(Debug, Clone, PartialEq)]
enum Test {
    /// All of these.
    Compare(Vec<(Operator, Json)>),
    /// Such fields in it. One that isn't there has fields no more than one that is no object: they are null.
    Object(Filter),
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Operator {
    Equal,
    Unequal,
    Greater,
    AtLeast,
    Less,
    AtMost,
}

const OPERATORS: [(&str, Operator); 6] = [
    ("$eq", Operator::Equal),
    ("$ne", Operator::Unequal),
    ("$gt", Operator::Greater),
    ("$gte", Operator::AtLeast),
    ("$lt", Operator::Less),
    ("$lte", Operator::AtMost),
];

impl Filter {
    /// Reads `{"kind": "note", "meta.stars": {"$gte": 3}, "author": {"name": "Ann"}}`; null is no condition.
    ///
    /// # Errors
    /// In words, where it is no object or has an operator that there isn't.
    pub fn parse(json: &Json) -> Result<Self, String> {
        match json {
            Json::Null => Ok(Self::default()),
            Json::Object(fields) => Self::object(fields),
            other => Err(format!("a filter is an object of fields, found `{other}`")),
        }
    }

    fn object(fields: &JsonMap<String, Json>) -> Result<Self, String> {
        let tests = fields.iter().map(|(field, wanted)| {
            if field.starts_with('$') {
                return Err(format!(
                    "a filter begins with fields: write `{{\"FIELD\": {{\"{field}\": ..}}}}`"
                ));
            }
            Ok((field.clone(), Test::parse(field, wanted)?))
        });
        Ok(Self(tests.collect::<Result<_, _>>()?))
    }

    /// Whether it asks for nothing.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a value passes.
    pub fn passes(&self, value: &Json) -> bool {
        let holds = |(field, test): &(String, Test)| test.holds(find(value, field));
        self.0.iter().all(holds)
    }
}

impl Test {
    fn parse(field: &str, wanted: &Json) -> Result<Self, String> {
        let Json::Object(entries) = wanted else {
            return Ok(Test::Compare(vec![(Operator::Equal, wanted.clone())]));
        };
        if !entries.keys().any(|key| key.starts_with('$')) {
            return Ok(Test::Object(Filter::object(entries)?));
        }
        let compare = entries.iter().map(|(word, with)| {
            let known = OPERATORS.iter().find(|(name, _)| name == word);
            let Some((_, operator)) = known else {
                let names = OPERATORS.map(|(name, _)| name);
                return Err(format!(
                    "a filter has no operator `{word}` (of `{field}`); there is {}",
                    crate::base::name::list(names)
                ));
            };
            let ordered = with.is_number() || with.is_string();
            if !ordered && !matches!(operator, Operator::Equal | Operator::Unequal) {
                return Err(format!(
                    "`{word}` (of `{field}`) compares with a number or a text, found `{with}`"
                ));
            }
            Ok((*operator, with.clone()))
        });
        Ok(Test::Compare(compare.collect::<Result<_, _>>()?))
    }

    fn holds(&self, value: &Json) -> bool {
        match self {
            Test::Object(filter) => filter.passes(value),
            Test::Compare(all) => all.iter().all(|(operator, with)| {
                let order = || compare(value, with);
                match operator {
                    Operator::Equal => equal(value, with),
                    Operator::Unequal => !equal(value, with),
                    Operator::Greater => order() == Some(Ordering::Greater),
                    Operator::AtLeast => order().is_some_and(Ordering::is_ge),
                    Operator::Less => order() == Some(Ordering::Less),
                    Operator::AtMost => order().is_some_and(Ordering::is_le),
                }
            }),
        }
    }
}

/// A field of that name, else the field in a field that its dots name.
fn find<'v>(value: &'v Json, field: &str) -> &'v Json {
    if let Some(found) = value.get(field) {
        return found;
    }
    let mut at = value;
    for name in field.split('.') {
        match at.get(name) {
            Some(inner) => at = inner,
            None => return &Json::Null,
        }
    }
    at
}

/// The order of two numbers or two texts.
fn compare(a: &Json, b: &Json) -> Option<Ordering> {
    match (a, b) {
        (Json::String(a), Json::String(b)) => Some(a.cmp(b)),
        (Json::Number(a), Json::Number(b)) => match (a.as_i128(), b.as_i128()) {
            (Some(a), Some(b)) => Some(a.cmp(&b)),
            _ => a.as_f64()?.partial_cmp(&b.as_f64()?),
        },
        _ => None,
    }
}

/// As JSON, but that `1` is `1.0`.
fn equal(a: &Json, b: &Json) -> bool {
    match (a, b) {
        (Json::Number(_), Json::Number(_)) => compare(a, b) == Some(Ordering::Equal),
        (Json::Array(a), Json::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b))
        }
        (Json::Object(a), Json::Object(b)) => {
            let same = |(name, a): (&String, &Json)| b.get(name).is_some_and(|b| equal(a, b));
            a.len() == b.len() && a.iter().all(same)
        }
        _ => a == b,
    }
}
