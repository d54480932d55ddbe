//! What a flow's version is a hash of.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value as Json;
use sha2::{Digest, Sha256};

/// Whether a key may hold places. A moved line, or another format of the source, changes nothing of how a flow runs.
fn is_place_key(key: &str) -> bool {
    matches!(key, "at" | "anchors")
}

/// Whether a value under such a key holds places: a constant of the flow may have the key too.
fn is_place(value: &Json) -> bool {
    match value {
        Json::Object(place) => {
            let has = |key: &&str| place.get(*key).is_some_and(Json::is_u64);
            ["line", "column"].iter().all(has) && ["offset", "text"].iter().any(has)
        }
        Json::Array(anchors) => !anchors.is_empty() && anchors.iter().all(is_place),
        _ => false,
    }
}

/// Takes the places out of a part of a flow.
pub(super) fn drop_places(json: &mut Json) {
    match json {
        Json::Object(entries) => {
            entries.retain(|key, value| !is_place_key(key) || !is_place(value));
            entries.values_mut().for_each(drop_places);
        }
        Json::Array(items) => items.iter_mut().for_each(drop_places),
        _ => {}
    }
}

/// The hash of a JSON text, in hex digits: of all but places, and but the keys of its outermost object that are `left_out`. Of a
/// text that is nested too deep for `serde_json` (127 levels) it is the hash of all.
///
/// It reads the text once and builds nothing of it: as a tree, a flow of 10,000 nodes takes 60 MB.
pub(super) fn digest(json: &str, left_out: &[&str]) -> String {
    let mut hash = Sha256::new();
    let hashed = Hashed {
        hash: &mut hash,
        left_out,
    };
    let read = hashed.deserialize(&mut serde_json::Deserializer::from_str(json));
    let digest = match read {
        Ok(()) => hash.finalize(),
        Err(_) => Sha256::digest(json),
    };
    let digits = digest.iter().take(16).map(|byte| format!("{byte:02x}"));
    digits.collect()
}

/// A value that is added to a hash.
struct Hashed<'a> {
    hash: &'a mut Sha256,
    left_out: &'a [&'a str],
}

impl Hashed<'_> {
    /// What stands inside.
    fn inner(&mut self) -> Hashed<'_> {
        Hashed {
            hash: self.hash,
            left_out: &[],
        }
    }

    /// Adds a value on a line of its own: its JSON text has no line end within.
    fn line<E: Error>(self, value: &impl serde::Serialize) -> Result<(), E> {
        let text = serde_json::to_string(value).map_err(E::custom)?;
        self.hash.update(text);
        self.hash.update("\n");
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Hashed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Hashed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.line(&())
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        self.line(&value)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        self.line(&value)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        self.line(&value)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        self.line(&value)
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<(), E> {
        self.line(&value)
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<(), A::Error> {
        self.hash.update("[\n");
        while items.next_element_seed(self.inner())?.is_some() {}
        self.hash.update("]\n");
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut entries: A) -> Result<(), A::Error> {
        self.hash.update("{\n");
        while let Some(key) = entries.next_key::<Cow<'de, str>>()? {
            if self.left_out.contains(&&*key) {
                entries.next_value::<IgnoredAny>()?;
            } else if is_place_key(&key) {
                let value: Json = entries.next_value()?;
                if !is_place(&value) {
                    self.inner().line(&key)?;
                    self.inner().line(&value)?;
                }
            } else {
                self.inner().line(&key)?;
                entries.next_value_seed(self.inner())?;
            }
        }
        self.hash.update("}\n");
        Ok(())
    }
}
