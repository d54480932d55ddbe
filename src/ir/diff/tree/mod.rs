//! A flow as one tree in which everything is called by its name.
//!
//! The tree is made through serialization, so that whatever is part of the IR is part of it: a new field of the IR needs
//! nothing here. Indices become names, so that something added elsewhere moves nothing; places stand beside the
//! parts that they belong to and are never compared.

mod collect;
mod names;
mod show;
mod text;
mod write;

use crate::ir::flow::Flow;
use crate::ir::graph::Migrate;
use crate::ir::text::Place;

pub(in crate::ir::diff) use show::{both, one};
pub(in crate::ir::diff) use text::laid_out;

/// A part of a flow.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::ir::diff) enum Tree {
    /// A text; an index as the name of what it stands for.
    Leaf(String),
    /// A number, `true`, null.
    Word(String),
    /// In order.
    List(Vec<Tree>),
    /// A struct, a variant or a map.
    Part(Part),
    /// A place.
    At(Place),
    /// What serves places alone.
    Nothing,
}

/// What has named entries.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::ir::diff) struct Part {
    /// Name of its Rust type.
    pub kind: &'static str,
    /// Where it stands in the source.
    pub at: At,
    /// What it has, those left out of the JSON left out here too.
    pub entries: Vec<(String, Tree)>,
}

/// A place, equal to every other: what has only moved is the same.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::ir::diff) struct At(pub Option<Place>);

impl PartialEq for At {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Tree {
    /// The tree of a flow. Fields and nodes that `renames` has for a graph are called by their new names.
    pub fn of<'f>(flow: &'f Flow, renames: impl Fn(&str) -> Option<&'f Migrate>) -> Self {
        let names = names::Names::of(flow, renames);
        write::tree(flow, &names)
    }

    /// An entry of it.
    pub fn get(&self, key: &str) -> Option<&Tree> {
        match self {
            Tree::Part(part) => part.get(key),
            _ => None,
        }
    }

    /// The elements of a list, none of anything else.
    pub fn elements(&self) -> &[Tree] {
        match self {
            Tree::List(elements) => elements,
            _ => &[],
        }
    }

    /// The text of a leaf or a word.
    pub fn text(&self) -> Option<&str> {
        match self {
            Tree::Leaf(text) | Tree::Word(text) => Some(text),
            _ => None,
        }
    }

    /// Its name, where it has one.
    pub fn name(&self) -> Option<&str> {
        self.get("name").and_then(Tree::text)
    }
}

impl Part {
    /// An entry of it.
    pub fn get(&self, key: &str) -> Option<&Tree> {
        let found = self.entries.iter().find(|(known, _)| known == key);
        found.map(|(_, tree)| tree)
    }
}
