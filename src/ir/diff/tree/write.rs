//! Writes a flow as a tree: a serializer.

use serde::ser::{self, Serialize};

use super::collect::{Many, Open};
use super::names::Names;
use super::{At, Part, Tree};

pub(super) type Error = serde_json::Error;

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
pub(super) struct Writer<'n> {
    pub names: &'n Names,
    /// Whether an id of a field is one of the called graph.
    pub called: bool,
}

impl<'n> Writer<'n> {
    fn leaf(text: impl ToString) -> Result<Tree, Error> {
        Ok(Tree::Leaf(text.to_string()))
    }

    fn word(text: impl ToString) -> Result<Tree, Error> {
        Ok(Tree::Word(text.to_string()))
    }

    fn many(self) -> Many<'n> {
        Many::of(self, None)
    }

    fn open(self, kind: &'static str, variant: Option<&'static str>) -> Open<'n> {
        self.names.begin(kind);
        Open::of(self, kind, variant)
    }
}

/// A variant with what it holds.
pub(super) fn variant(kind: &'static str, name: &str, tree: Tree) -> Tree {
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
        Ok(Many::of(self, Some((kind, name))))
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
