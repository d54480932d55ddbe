//! Writes a flow as a tree: a serializer.

use serde::ser::{self, Serialize};

use super::names::Names;
use super::{At, Part, Tree};
use crate::ir::text::Place;

type Error = serde_json::Error;

/// The tree of a flow.
pub(super) fn tree(flow: &impl Serialize, names: &Names) -> Tree {
    let writer = Writer {
        names,
        called: false,
    };
    // Nothing of a flow fails to be written.
    flow.serialize(writer).unwrap_or(Tree::Nothing)
}

#[derive(Clone, Copy)]
struct Writer<'n> {
    names: &'n Names,
    /// Whether an id of a field is one of the called graph.
    called: bool,
}

impl<'n> Writer<'n> {
    fn leaf(text: impl ToString) -> Result<Tree, Error> {
        Ok(Tree::Leaf(text.to_string()))
    }

    fn word(text: impl ToString) -> Result<Tree, Error> {
        Ok(Tree::Word(text.to_string()))
    }

    fn many(self) -> Many<'n> {
        Many {
            writer: self,
            elements: Vec::new(),
            variant: None,
        }
    }

    fn open(self, kind: &'static str, variant: Option<&'static str>) -> Open<'n> {
        self.names.begin(kind);
        Open {
            writer: self,
            kind,
            variant,
            key: String::new(),
            entries: Vec::new(),
        }
    }
}

/// A variant with what it holds.
fn variant(kind: &'static str, name: &str, tree: Tree) -> Tree {
    Tree::Part(Part {
        kind,
        at: At::default(),
        entries: vec![(name.to_owned(), tree)],
    })
}

macro_rules! words {
    ($($method:ident: $of:ty),*) => {
        $(fn $method(self, value: $of) -> Result<Tree, Error> {
            Self::word(value)
        })*
    };
}

impl<'n> ser::Serializer for Writer<'n> {
    type Ok = Tree;
    type Error = Error;
    type SerializeSeq = Many<'n>;
    type SerializeTuple = Many<'n>;
    type SerializeTupleStruct = Many<'n>;
    type SerializeTupleVariant = Many<'n>;
    type SerializeMap = Open<'n>;
    type SerializeStruct = Open<'n>;
    type SerializeStructVariant = Open<'n>;

    words!(
        serialize_bool: bool, serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64,
        serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64, serialize_f32: f32,
        serialize_f64: f64
    );

    fn serialize_char(self, value: char) -> Result<Tree, Error> {
        Self::leaf(value)
    }

    fn serialize_str(self, value: &str) -> Result<Tree, Error> {
        Self::leaf(value)
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<Tree, Error> {
        Self::leaf(format!("{value:?}"))
    }

    fn serialize_none(self) -> Result<Tree, Error> {
        Self::word("null")
    }

    fn serialize_some<T: ?Sized + Serialize>(self, value: &T) -> Result<Tree, Error> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<Tree, Error> {
        Self::word("null")
    }

    fn serialize_unit_struct(self, name: &'static str) -> Result<Tree, Error> {
        Self::leaf(name)
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<Tree, Error> {
        Self::leaf(variant)
    }

    fn serialize_newtype_struct<T: ?Sized + Serialize>(
        self,
        kind: &'static str,
        value: &T,
    ) -> Result<Tree, Error> {
        let tree = value.serialize(self)?;
        let name = tree
            .text()
            .and_then(|index| self.names.name(kind, index, self.called));
        Ok(name.map_or(tree, Tree::Leaf))
    }

    fn serialize_newtype_variant<T: ?Sized + Serialize>(
        self,
        kind: &'static str,
        _: u32,
        name: &'static str,
        value: &T,
    ) -> Result<Tree, Error> {
        Ok(variant(kind, name, value.serialize(self)?))
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Many<'n>, Error> {
        Ok(self.many())
    }

    fn serialize_tuple(self, _: usize) -> Result<Many<'n>, Error> {
        Ok(self.many())
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Many<'n>, Error> {
        Ok(self.many())
    }

    fn serialize_tuple_variant(
        self,
        kind: &'static str,
        _: u32,
        name: &'static str,
        _: usize,
    ) -> Result<Many<'n>, Error> {
        Ok(Many {
            variant: Some((kind, name)),
            ..self.many()
        })
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Open<'n>, Error> {
        Ok(self.open("map", None))
    }

    fn serialize_struct(self, kind: &'static str, _: usize) -> Result<Open<'n>, Error> {
        Ok(self.open(kind, None))
    }

    fn serialize_struct_variant(
        self,
        kind: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Open<'n>, Error> {
        Ok(self.open(kind, Some(variant)))
    }
}

/// Elements so far.
struct Many<'n> {
    writer: Writer<'n>,
    elements: Vec<Tree>,
    variant: Option<(&'static str, &'static str)>,
}

impl Many<'_> {
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
struct Open<'n> {
    writer: Writer<'n>,
    kind: &'static str,
    variant: Option<&'static str>,
    key: String,
    entries: Vec<(String, Tree)>,
}

impl Open<'_> {
    fn add<T: ?Sized + Serialize>(&mut self, key: &str, value: &T) -> Result<(), Error> {
        let writer = Writer {
            // These two are fields of the graph that the node calls.
            called: matches!((self.kind, key), ("Pass", "to") | ("Binding", "from")),
            ..self.writer
        };
        let tree = value.serialize(writer)?;
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
            ("Expr" | "Template", [(key, Tree::Leaf(text))]) if key == "text" => {
                return Tree::Leaf(text.clone());
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
