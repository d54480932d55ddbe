//! Lists and parts of a tree, while they are written.

use serde::ser::{self, Serialize};

use super::text::{laid_out, renamed};
use super::write::{Error, Writer, variant};
use super::{At, Part, Tree};
use crate::ir::text::Place;

/// Elements so far.
pub(super) struct Many<'n> {
    writer: Writer<'n>,
    elements: Vec<Tree>,
    variant: Option<(&'static str, &'static str)>,
}

impl<'n> Many<'n> {
    pub fn of(writer: Writer<'n>, variant: Option<(&'static str, &'static str)>) -> Self {
        Self {
            writer,
            elements: Vec::new(),
            variant,
        }
    }

    fn add<T: ?Sized + Serialize>(&mut self, value: &T) -> Result<(), Error> {
        self.elements.push(value.serialize(self.writer)?);
        Ok(())
    }

    fn close(self) -> Tree {
        let places = self.elements.iter().all(|tree| *tree == Tree::Nothing);
        let list = match places && !self.elements.is_empty() {
            true => Tree::Nothing,
            false => Tree::List(self.elements),
        };
        match self.variant {
            Some((kind, name)) => variant(kind, name, list),
            None => list,
        }
    }
}

macro_rules! elements {
    ($($of:ident: $method:ident),*) => {
        $(impl ser::$of for Many<'_> {
            type Ok = Tree;
            type Error = Error;

            fn $method<T: ?Sized + Serialize>(&mut self, value: &T) -> Result<(), Error> {
                self.add(value)
            }

            fn end(self) -> Result<Tree, Error> {
                Ok(self.close())
            }
        })*
    };
}

elements!(
    SerializeSeq: serialize_element,
    SerializeTuple: serialize_element,
    SerializeTupleStruct: serialize_field,
    SerializeTupleVariant: serialize_field
);

/// Entries so far.
pub(super) struct Open<'n> {
    writer: Writer<'n>,
    kind: &'static str,
    variant: Option<&'static str>,
    key: String,
    entries: Vec<(String, Tree)>,
}

impl<'n> Open<'n> {
    pub fn of(writer: Writer<'n>, kind: &'static str, variant: Option<&'static str>) -> Self {
        Self {
            writer,
            kind,
            variant,
            key: String::new(),
            entries: Vec::new(),
        }
    }

    fn add<T: ?Sized + Serialize>(&mut self, key: &str, value: &T) -> Result<(), Error> {
        let writer = Writer {
            // These two are fields of the graph that the node calls.
            called: matches!((self.kind, key), ("Pass", "to") | ("Binding", "from")),
            ..self.writer
        };
        let mut tree = value.serialize(writer)?;
        // A name by which a node is gone to.
        if (self.kind, key) == ("End", "name")
            && let Some(now) = tree.text().and_then(|name| writer.names.now(name))
        {
            tree = Tree::Leaf(now);
        }
        self.entries.push((key.to_owned(), tree));
        Ok(())
    }

    fn close(mut self) -> Tree {
        if self.kind == "Place" {
            return Tree::At(self.place());
        }
        let at = self.entries.iter().find_map(|(_, tree)| match tree {
            Tree::At(place) => Some(*place),
            _ => None,
        });
        self.entries
            .retain(|(_, tree)| !matches!(tree, Tree::At(_) | Tree::Nothing));
        match (self.kind, self.entries.as_slice()) {
            ("Anchor", _) => return Tree::Nothing,
            // A text alone is that text.
            ("Expr", [(key, Tree::Leaf(text))]) if key == "text" => {
                return Tree::Leaf(laid_out(text, self.writer.names.fields_now()));
            }
            ("Template", [(key, Tree::Leaf(text))]) if key == "text" => {
                return Tree::Leaf(renamed(text, self.writer.names.fields_now()));
            }
            _ => {}
        }
        let part = Tree::Part(Part {
            kind: self.kind,
            at: At(at),
            entries: self.entries,
        });
        match self.variant {
            Some(name) => variant(self.kind, name, part),
            None => part,
        }
    }

    fn place(&self) -> Place {
        let number = |key: &str| {
            let entry = self.entries.iter().find(|(known, _)| known == key);
            let text = entry.and_then(|(_, tree)| tree.text());
            text.and_then(|text| text.parse().ok()).unwrap_or(0)
        };
        Place {
            file: number("file"),
            line: number("line"),
            column: number("column"),
            offset: number("offset"),
        }
    }
}

impl ser::SerializeMap for Open<'_> {
    type Ok = Tree;
    type Error = Error;

    fn serialize_key<T: ?Sized + Serialize>(&mut self, key: &T) -> Result<(), Error> {
        let key = key.serialize(self.writer)?;
        self.key = key.text().unwrap_or_default().to_owned();
        Ok(())
    }

    fn serialize_value<T: ?Sized + Serialize>(&mut self, value: &T) -> Result<(), Error> {
        let key = std::mem::take(&mut self.key);
        self.add(&key, value)
    }

    fn end(self) -> Result<Tree, Error> {
        Ok(self.close())
    }
}

macro_rules! entries {
    ($($of:ident),*) => {
        $(impl ser::$of for Open<'_> {
            type Ok = Tree;
            type Error = Error;

            fn serialize_field<T: ?Sized + Serialize>(
                &mut self,
                key: &'static str,
                value: &T,
            ) -> Result<(), Error> {
                self.add(key, value)
            }

            fn end(self) -> Result<Tree, Error> {
                Ok(self.close())
            }
        })*
    };
}

entries!(SerializeStruct, SerializeStructVariant);
