//! How deep and how large a value is, kept up to date as it is built, so that asking costs nothing.
//!
//! A value shares its parts, so one that takes a few bytes of memory can be astronomically large
//! when it is written out or compared (`[a, a]` of `[b, b]` of ...). Whoever builds values from
//! what a flow says looks at [`Value::check_size`] before handing them on.

use serde_json::Value as Json;

use super::{Key, Value};

/// Collections may lie in each other this deep. The JSON readers of this program stop at 128.
pub const MAX_DEPTH: u16 = 100;

/// Upper bound of a value's weight: about 256 MB as JSON.
pub const MAX_WEIGHT: u32 = 1 << 24;

/// Longest text that an expression makes, in bytes.
pub const MAX_TEXT: usize = 16 << 20;
/// What is said of a text beyond [`MAX_TEXT`].
pub const TEXT_TOO_LONG: &str = "the text is longer than 16 MiB";

/// Bytes of text that weigh as much as one element.
const UNIT: usize = 16;

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Size {
    /// Levels of collections inside; an upper bound after an element went.
    depth: u16,
    /// Elements inside at any depth, every 16 bytes of text counted as one more; saturates.
    weight: u32,
    /// Floats inside that are infinite or not a number.
    not_finite: u32,
}

impl Size {
    fn of(value: &Value) -> Size {
        let inner = match value {
            Value::List(list) => list.size(),
            Value::Map(map) => map.size(),
            Value::Optional(Some(inner)) => Size::of(inner),
            Value::String(text) => return Size::text(text.len()),
            Value::Bytes(bytes) => return Size::text(bytes.len()),
            Value::Float(float) => {
                return Size {
                    not_finite: u32::from(!float.is_finite()),
                    ..Size::text(0)
                };
            }
            _ => return Size::text(0),
        };
        Size {
            depth: inner.depth.saturating_add(1),
            weight: inner.weight.saturating_add(1),
            not_finite: inner.not_finite,
        }
    }

    fn text(len: usize) -> Size {
        Size {
            depth: 0,
            weight: u32::try_from(1 + len / UNIT).unwrap_or(u32::MAX),
            not_finite: 0,
        }
    }

    /// Counts an element in.
    pub(super) fn add(&mut self, value: &Value) {
        let size = Size::of(value);
        self.depth = self.depth.max(size.depth);
        self.weight = self.weight.saturating_add(size.weight);
        self.not_finite = self.not_finite.saturating_add(size.not_finite);
    }

    /// Counts an element out.
    pub(super) fn take(&mut self, value: &Value) {
        let size = Size::of(value);
        self.weight = self.weight.saturating_sub(size.weight);
        self.not_finite = self.not_finite.saturating_sub(size.not_finite);
    }

    /// Counts a key out.
    pub(super) fn take_key(&mut self, key: &Key) {
        let len = key.as_str().map_or(0, str::len);
        self.weight = self.weight.saturating_sub(Size::text(len).weight);
    }

    /// Counts a key in.
    pub(super) fn add_key(&mut self, key: &Key) {
        let len = key.as_str().map_or(0, str::len);
        self.weight = self.weight.saturating_add(Size::text(len).weight);
    }
}

impl Value {
    /// How much there is of it: 1 and that of its elements, every 16 bytes of text counted as one
    /// more. An upper bound; asking costs nothing.
    pub fn weight(&self) -> usize {
        Size::of(self).weight as usize
    }

    /// Whether all numbers in it are numbers: no float that is infinite or not a number, which only an expression may have
    /// on its way to something else. The error says what there is.
    pub fn check_finite(&self) -> Result<(), &'static str> {
        match self {
            Value::Float(float) if float.is_nan() => Err("the value is not a number"),
            Value::Float(float) if float.is_infinite() => Err("the number is infinite"),
            value if Size::of(value).not_finite > 0 => {
                Err("the value holds a number that is infinite, or not a number")
            }
            _ => Ok(()),
        }
    }

    /// Whether the value is within [`MAX_DEPTH`]: asked of what comes from outside, where deeper values could not be kept and
    /// read again with what is kept around them.
    pub fn check_depth(&self) -> Result<(), String> {
        match Size::of(self).depth > MAX_DEPTH {
            true => Err(format!(
                "the value is nested deeper than {MAX_DEPTH} levels"
            )),
            false => Ok(()),
        }
    }

    /// Whether the value is within [`MAX_DEPTH`] and [`MAX_WEIGHT`]; the error says which it exceeds.
    pub fn check_size(&self) -> Result<(), String> {
        self.check_depth()?;
        if Size::of(self).weight > MAX_WEIGHT {
            return Err("the value is too large".into());
        }
        Ok(())
    }
}

/// Whether JSON has more levels of lists and objects than that.
pub fn is_deeper(json: &Json, levels: usize) -> bool {
    let Some(inside) = levels.checked_sub(1) else {
        return matches!(json, Json::Array(_) | Json::Object(_));
    };
    match json {
        Json::Array(items) => items.iter().any(|item| is_deeper(item, inside)),
        Json::Object(entries) => entries.values().any(|item| is_deeper(item, inside)),
        _ => false,
    }
}
