//! Names as PostgreSQL keeps them.
//!
//! A name (of a thread, frame, field, task ..) may hold any character and be as long as it likes. PostgreSQL refuses
//! U+0000 in text and rows of an index above 2,700 bytes: so a name is kept with U+0000 written otherwise, and what is
//! looked up is its [`key`].

use std::borrow::Cow;

use sha2::{Digest, Sha256};
use uuid::Uuid;

/// What a row is found by: 16 bytes of a hash of one or several names.
pub(super) fn key(names: &[&str]) -> Uuid {
    Uuid::from_bytes(digest(names))
}

/// Key of an advisory lock, which is one for the whole database: of all that tells it from others.
pub(super) fn lock(names: &[&str]) -> i64 {
    let [a, b, c, d, e, f, g, h, ..] = digest(names);
    i64::from_be_bytes([a, b, c, d, e, f, g, h])
}

fn digest(names: &[&str]) -> [u8; 16] {
    let mut hash = Sha256::new();
    for name in names {
        hash.update((name.len() as u64).to_be_bytes());
        hash.update(name.as_bytes());
    }
    let mut short = [0; 16];
    for (to, from) in short.iter_mut().zip(hash.finalize()) {
        *to = from;
    }
    short
}

/// A name as it is kept: `\0` for U+0000, and `\\` for a backslash.
pub(super) fn kept(name: &str) -> Cow<'_, str> {
    match name.contains(['\\', '\0']) {
        true => Cow::Owned(name.replace('\\', "\\\\").replace('\0', "\\0")),
        false => Cow::Borrowed(name),
    }
}

/// The name that was kept; `None` where no name is kept so.
pub(super) fn original(kept: String) -> Option<String> {
    if !kept.contains('\\') {
        return Some(kept);
    }
    let mut name = String::with_capacity(kept.len());
    let mut rest = kept.chars();
    while let Some(c) = rest.next() {
        name.push(match c {
            '\\' => match rest.next()? {
                '0' => '\0',
                '\\' => '\\',
                _ => return None,
            },
            c => c,
        });
    }
    Some(name)
}
