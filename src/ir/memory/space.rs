//! Namespaces: paths of texts.

use std::ops::Range;

/// Most bytes of a namespace, and of a key.
pub const MAX_NAME: usize = 1000;

/// The byte ahead of the root of namespaces that are apart: no text has it, and what begins with none of them does not either.
const APART: u8 = u8::MAX;

/// A namespace, or the beginning of some: its parts, the widest first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Space {
    /// What it is apart from all others by, as the memory of a scenario is; empty for those that a project shares.
    root: String,
    parts: Vec<String>,
}

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
        let space = Self {
            root: String::new(),
            parts,
        };
        match space.to_bytes().len() > MAX_NAME {
            true => Err(format!(
                "a namespace has at most {MAX_NAME} bytes, with one behind each part"
            )),
            false => Ok(space),
        }
    }

    /// What all namespaces begin with that are not apart.
    pub fn all() -> Self {
        Self {
            root: String::new(),
            parts: Vec::new(),
        }
    }

    /// The same in a memory that is apart: nothing that names no root, or another, finds it.
    pub fn apart(mut self, root: &str) -> Self {
        root.clone_into(&mut self.root);
        self
    }

    /// What it is apart by; empty where it isn't.
    pub fn root(&self) -> &str {
        &self.root
    }

    /// Its parts.
    pub fn parts(&self) -> &[String] {
        &self.parts
    }

    /// As it is kept: each part with a zero behind it. Bytes order as parts do, and what begins with these bytes lies below.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        if !self.root.is_empty() {
            bytes.push(APART);
        }
        let root = Some(&self.root).filter(|root| !root.is_empty());
        for part in root.into_iter().chain(&self.parts) {
            bytes.extend(part.as_bytes());
            bytes.push(0);
        }
        bytes
    }

    /// What was kept so; `None` where it wasn't.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let apart = bytes.strip_prefix(&[APART]);
        let text = std::str::from_utf8(apart.unwrap_or(bytes)).ok()?;
        let mut parts = text.strip_suffix('\0')?.split('\0').map(str::to_owned);
        Some(Self {
            root: apart.map_or(Some(String::new()), |_| parts.next())?,
            parts: parts.collect(),
        })
    }

    /// From it to the end of all that lies below.
    pub fn below(&self) -> Range<Vec<u8>> {
        let start = self.to_bytes();
        let mut end = start.clone();
        end.push(APART);
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
        Space {
            root: String::new(),
            parts: literal.collect(),
        }
    }

    /// What is listed of these, which come in order: those that fit, cut off at the depth, each once.
    pub fn of(&self, spaces: Vec<Space>) -> Vec<Space> {
        let depth = self.depth.unwrap_or(usize::MAX);
        let fits = |space: &Space| {
            space.parts.len() >= self.parts.len()
                && (self.parts.iter().zip(&space.parts))
                    .all(|(wanted, part)| wanted.as_ref().is_none_or(|wanted| wanted == part))
        };
        let cut = spaces.into_iter().filter(fits).map(|mut space| {
            space.parts.truncate(depth);
            space
        });
        let mut listed: Vec<Space> = cut.collect();
        listed.dedup();
        listed
    }
}
