//! Where a part of a YAML text stands.
//!
//! The YAML crate keeps no places, but an error raised while a value is read carries the place of
//! that value. So the text is read once more down to the wanted part, and an error is raised there.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::{Step, parse};

/// What of an entry is meant.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Its key.
    Key,
    /// Its value.
    Value,
}

/// Line and column (from 1, columns in characters) of a part; `None` where there is none.
pub fn locate(text: &str, path: &[Step], part: Part) -> Option<(u32, u32)> {
    let probe = Probe { path, part };
    let text = parse::shielded(text);
    let error = probe
        .deserialize(serde_yaml::Deserializer::from_str(&text))
        .err()?;
    let at = error.location()?;
    Some((at.line() as u32, at.column() as u32))
}

/// Offset of a line and column; 0 where there is none.
pub fn offset(text: &str, at: Option<(u32, u32)>) -> usize {
    let Some((line, column)) = at else { return 0 };
    let mut start = 0;
    for (i, piece) in text.split_inclusive('\n').enumerate() {
        if i + 1 == line as usize {
            let before = piece.chars().take(column.saturating_sub(1) as usize);
            return start + before.map(char::len_utf8).sum::<usize>();
        }
        start += piece.len();
    }
    text.len()
}

/// Offset of the end of what begins at `start`: a key, a scalar, a list or map in brackets. What goes
/// on over several lines ends with its first.
pub fn scalar_end(text: &str, start: usize) -> usize {
    let rest = text.get(start..).unwrap_or("");
    let line = rest.lines().next().unwrap_or("");
    let word = line.get(..length(line)).unwrap_or(line).trim_end();
    start + word.strip_suffix(':').unwrap_or(word).len()
}

fn length(line: &str) -> usize {
    let first = line.chars().next().unwrap_or(' ');
    let len = match first {
        '"' | '\'' => line.get(1..).and_then(|r| r.find(first)).map(|i| i + 2),
        '{' | '[' => bracketed(line),
        _ if line.starts_with("${") => line.find('}').map(|i| i + 1),
        _ => [": ", " #", ", ", "}", "]"]
            .iter()
            .filter_map(|stop| line.find(stop))
            .min(),
    };
    len.unwrap_or(line.len())
}

/// Length up to the bracket that closes the first, which stands at the beginning.
fn bracketed(line: &str) -> Option<usize> {
    let mut open = 0_usize;
    let mut quote = None;
    for (i, c) in line.char_indices() {
        match (quote, c) {
            (Some(q), _) if q == c => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '{' | '[') => open += 1,
            (None, '}' | ']') => open = open.saturating_sub(1),
            _ => {}
        }
        if open == 0 {
            return Some(i + 1);
        }
    }
    None
}

#[derive(Clone, Copy)]
struct Probe<'a> {
    path: &'a [Step],
    part: Part,
}

/// Raised at the wanted part; its text is never shown.
fn here<E: Error>() -> E {
    E::custom("here")
}

impl<'de> DeserializeSeed<'de> for Probe<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

macro_rules! scalars {
    ($($visit:ident: $ty:ty),*) => {
        $(fn $visit<E: Error>(self, _: $ty) -> Result<(), E> {
            Err(here())
        })*
    };
}

impl<'de> Visitor<'de> for Probe<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    scalars!(visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64, visit_str: &str);

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Err(here())
    }

    fn visit_none<E: Error>(self) -> Result<(), E> {
        Err(here())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<(), A::Error> {
        let Some((Step::Index(wanted), rest)) = self.path.split_first() else {
            return Err(here());
        };
        for _ in 0..*wanted {
            if access.next_element::<IgnoredAny>()?.is_none() {
                return Err(here());
            }
        }
        let inner = Probe { path: rest, ..self };
        access.next_element_seed(inner)?;
        Err(here())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<(), A::Error> {
        let Some((Step::Key(wanted), rest)) = self.path.split_first() else {
            return Err(here());
        };
        let key = KeyProbe {
            wanted,
            stop: rest.is_empty() && self.part == Part::Key,
        };
        while let Some(matches) = access.next_key_seed(key)? {
            match matches {
                true => access.next_value_seed(Probe { path: rest, ..self })?,
                false => access.next_value::<IgnoredAny>().map(drop)?,
            }
        }
        Err(here())
    }
}

#[derive(Clone, Copy)]
struct KeyProbe<'a> {
    wanted: &'a str,
    stop: bool,
}

impl<'de> DeserializeSeed<'de> for KeyProbe<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Visitor<'_> for KeyProbe<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<bool, E> {
        match key == self.wanted {
            true if self.stop => Err(here()),
            matches => Ok(matches),
        }
    }
}
