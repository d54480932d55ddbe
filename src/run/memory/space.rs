//! Namespaces: paths of texts.

use std::ops::Range;

/// Most bytes of a namespace, and of a key.
pub const MAX_NAME: usize = 1000;

/// A namespace, or the beginning of some: its parts, the widest first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Space(Vec<String>);

impl Space {
    /// The namespace of an item.
    ///
    /// # Errors
    /// In words, where it has no part, or one that [`Space::prefix`] refuses.
    pub fn new(parts: Vec<String>) -> Result<Self, String> {
        match parts.is_empty() {
            true => Err("a namespace has at least one part".to_owned()),
            false => Self::prefix(parts),
        }
    }

    /// The beginning of namespaces; without parts, of all.
    ///
    /// # Errors
    /// In words, where a part is empty, is `*`, begins with `$` or holds U+0000, or where they are longer than [`MAX_NAME`].
    pub fn prefix(parts: Vec<String>) -> Result<Self, String> {
        for part in &parts {
            let wrong = match part.as_str() {
                "" => "is empty",
                "*" => "is `*`, which stands for any part where namespaces are listed",
                part if part.starts_with('$') => {
                    "begins with `$`: only `$context.NAME` does, for a constant of the run"
                }
                part if part.contains('\0') => "holds U+0000",
                _ => continue,
            };
            return Err(format!("a part of the namespace {} {wrong}", shown(&parts)));
        }
        let space = Self(parts);
        match space.to_bytes().len() > MAX_NAME {
            true => Err(format!(
                "a namespace has at most {MAX_NAME} bytes, with one behind each part"
            )),
            false => Ok(space),
        }
    }

    /// What all namespaces begin with.
    pub fn all() -> Self {
        Self(Vec::new())
    }

    /// The same below these parts, which may be ones that nobody can name.
    pub fn under(mut self, root: &[String]) -> Self {
        self.0.splice(0..0, root.iter().cloned());
        self
    }

    /// The same without so many parts at its beginning.
    pub fn without(mut self, root: usize) -> Self {
        self.0.drain(..root.min(self.0.len()));
        self
    }

    /// Its parts.
    pub fn parts(&self) -> &[String] {
        &self.0
    }

    /// As it is kept: each part with a zero behind it. Bytes order as parts do, and what begins with these bytes lies below.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for part in &self.0 {
            bytes.extend(part.as_bytes());
            bytes.push(0);
        }
        bytes
    }

    /// What was kept so; `None` where it wasn't.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(bytes).ok()?.strip_suffix('\0')?;
        Some(Self(text.split('\0').map(str::to_owned).collect()))
    }

    /// From it to the end of all that lies below: no byte of a text is 255.
    pub fn below(&self) -> Range<Vec<u8>> {
        let start = self.to_bytes();
        let mut end = start.clone();
        end.push(u8::MAX);
        start..end
    }
}

/// A namespace for messages.
fn shown(parts: &[String]) -> String {
    format!("`{}`", serde_json::json!(parts))
}

/// A key.
///
/// # Errors
/// In words, where it is empty, too long or holds U+0000.
pub fn key(key: &str) -> Result<(), String> {
    let wrong = match key {
        "" => "a key has at least one character".to_owned(),
        key if key.contains('\0') => "a key can't hold U+0000".to_owned(),
        key if key.len() > MAX_NAME => format!("a key has at most {MAX_NAME} bytes"),
        _ => return Ok(()),
    };
    Err(wrong)
}

/// Which namespaces are listed.
#[derive(Debug, Clone, PartialEq)]
pub struct Pattern {
    parts: Vec<Option<String>>,
    /// The most parts of what is listed.
    pub depth: Option<usize>,
}

impl Pattern {
    /// Namespaces that begin with `parts`, in which `*` stands for any one.
    ///
    /// # Errors
    /// As of [`Space::prefix`].
    pub fn new(parts: Vec<String>, depth: Option<usize>) -> Result<Self, String> {
        let literal = parts.iter().filter(|part| *part != "*");
        Space::prefix(literal.cloned().collect())?;
        let parts = parts.into_iter();
        Ok(Self {
            parts: parts.map(|part| Some(part).filter(|p| p != "*")).collect(),
            depth,
        })
    }

    /// What all of them begin with.
    pub fn prefix(&self) -> Space {
        let literal = self.parts.iter().map_while(Clone::clone);
        Space(literal.collect())
    }

    /// What is listed of these, which come in order: those that fit, cut off at the depth, each once.
    pub fn of(&self, spaces: Vec<Space>) -> Vec<Space> {
        let depth = self.depth.unwrap_or(usize::MAX);
        let fits = |space: &Space| {
            space.0.len() >= self.parts.len()
                && (self.parts.iter().zip(&space.0))
                    .all(|(wanted, part)| wanted.as_ref().is_none_or(|wanted| wanted == part))
        };
        let cut = spaces.into_iter().filter(fits).map(|mut space| {
            space.0.truncate(depth);
            space
        });
        let mut listed: Vec<Space> = cut.collect();
        listed.dedup();
        listed
    }
}
