//! Text to tree.

use std::cell::RefCell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, EnumAccess, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value as Json};

use super::words;

/// Why a text is no tree.
#[derive(Debug)]
pub struct Fault {
    /// For the diagnostic.
    pub message: String,
    /// What to write instead.
    pub help: Option<String>,
    /// Line and column from 1, columns in characters.
    pub at: Option<(u32, u32)>,
}

/// Parses one YAML document.
pub fn parse(text: &str) -> Result<Json, Fault> {
    if text.trim().is_empty() {
        return Ok(Json::Null);
    }
    if let Some(line) = overfull(text) {
        return Err(Fault {
            message: format!("more than {MOST_OPEN} brackets are open at once"),
            help: None,
            at: Some((line, 1)),
        });
    }
    let own = RefCell::new(None);
    let tree = Tree { own: &own };
    tree.deserialize(serde_yaml::Deserializer::from_str(&shielded(text)))
        .map_err(|error| {
            let at = error
                .location()
                .map(|at| (at.line() as u32, at.column() as u32));
            match own.take() {
                Some((message, help)) => Fault { message, help, at },
                None => words::fault(&bare(&error.to_string()), at, text),
            }
        })
}

/// Brackets that may be open at once: the parser's work grows with their square, far below its own bound for depth.
const MOST_OPEN: usize = 10_000;

/// The line, from 1, in which more brackets are open than may be; what is in quotes is counted too.
fn overfull(text: &str) -> Option<u32> {
    let mut open = 0_usize;
    for (line, text) in (1..).zip(text.split('\n')) {
        for byte in text.bytes() {
            match byte {
                b'[' | b'{' => open += 1,
                b']' | b'}' => open = open.saturating_sub(1),
                _ => {}
            }
            if open > MOST_OPEN {
                return Some(line);
            }
        }
    }
    None
}

/// Stand-ins for the braces of `${NAME}`, from the private use area.
const OPEN: char = '\u{e07b}';
const CLOSE: char = '\u{e07d}';

/// The text with the braces of each `${NAME}` replaced, character by character, so that places stay
/// the same. To YAML such a brace would begin a map within `{ key: ${NAME} }`.
pub fn shielded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    // A byte order mark at the start is no part of the YAML; the crate takes it for a document's end.
    let mut rest = text.strip_prefix('\u{feff}').unwrap_or(text);
    while let Some((before, after)) = rest.split_once("${") {
        out.push_str(before);
        let line = after.lines().next().unwrap_or("");
        match line.split_once('}') {
            Some((inner, _)) if !inner.contains(['"', '\'']) => {
                out.extend(['$', OPEN]);
                out.push_str(inner);
                out.push(CLOSE);
                rest = after.get(inner.len() + 1..).unwrap_or("");
            }
            _ => {
                out.push_str("${");
                rest = after;
            }
        }
    }
    out + rest
}

fn bare(text: &str) -> String {
    text.replace(OPEN, "{").replace(CLOSE, "}")
}

/// What the tree itself objects to, with help; kept aside because the parser adds to messages.
type Own = RefCell<Option<(String, Option<String>)>>;

#[derive(Clone, Copy)]
struct Tree<'a> {
    own: &'a Own,
}

impl Tree<'_> {
    fn refuse<E: Error>(self, message: String, help: Option<&str>) -> E {
        self.own.replace(Some((message, help.map(str::to_owned))));
        E::custom("refused")
    }
}

impl<'de> DeserializeSeed<'de> for Tree<'_> {
    type Value = Json;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Json, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Tree<'_> {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E: Error>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    /// A file of comments alone.
    fn visit_none<E: Error>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_i128<E: Error>(self, value: i128) -> Result<Json, E> {
        Err(self.refuse(format!("`{value}` is too large for a number"), None))
    }

    fn visit_u128<E: Error>(self, value: u128) -> Result<Json, E> {
        Err(self.refuse(format!("`{value}` is too large for a number"), None))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Json, E> {
        match Number::from_f64(value) {
            Some(number) => Ok(Json::Number(number)),
            None => Err(self.refuse("this number is not finite".to_owned(), None)),
        }
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Json, E> {
        Ok(bare(value).into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Json, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element_seed(self)? {
            items.push(item);
        }
        Ok(Json::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Json, A::Error> {
        let mut entries = Map::new();
        while let Some(key) = access.next_key_seed(NewKey {
            tree: self,
            entries: &entries,
        })? {
            let value = access.next_value_seed(self)?;
            entries.insert(key, value);
        }
        Ok(Json::Object(entries))
    }

    fn visit_enum<A: EnumAccess<'de>>(self, _: A) -> Result<Json, A::Error> {
        let help = "quote a text that begins with `!`";
        Err(self.refuse("YAML tags have no meaning here".to_owned(), Some(help)))
    }
}

/// A key that its map doesn't have yet.
struct NewKey<'a> {
    tree: Tree<'a>,
    entries: &'a Map<String, Json>,
}

impl<'de> DeserializeSeed<'de> for NewKey<'_> {
    type Value = String;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<String, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl NewKey<'_> {
    fn no_text<E: Error>(self, what: impl fmt::Display) -> E {
        let help = "put it in quotes";
        self.tree
            .refuse(format!("a key must be text, this is {what}"), Some(help))
    }
}

impl<'de> Visitor<'de> for NewKey<'_> {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<String, E> {
        let key = bare(key);
        match self.entries.contains_key(&key) {
            true => Err(self
                .tree
                .refuse(format!("`{key}` stands twice in this map"), None)),
            false => Ok(key),
        }
    }

    fn visit_unit<E: Error>(self) -> Result<String, E> {
        Err(self.no_text("null"))
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<String, E> {
        Err(self.no_text(format!("the bool `{value}`")))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<String, E> {
        Err(self.no_text(format!("the number `{value}`")))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<String, E> {
        Err(self.no_text(format!("the number `{value}`")))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<String, E> {
        Err(self.no_text(format!("the number `{value}`")))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<String, A::Error> {
        Err(self.no_text("a list"))
    }

    fn visit_map<A: MapAccess<'de>>(self, _: A) -> Result<String, A::Error> {
        Err(self.no_text("a map"))
    }

    fn visit_enum<A: EnumAccess<'de>>(self, _: A) -> Result<String, A::Error> {
        Err(self.no_text("a tag"))
    }
}
