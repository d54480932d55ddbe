//! What a finding means for others, as data.
//!
//! The words of a finding are for people. What follows from it elsewhere (a name that is unknown a second time, a
//! write that seems to be missing because its field is misspelt) is told by the facts it carries.

use crate::base::{AccessPath, FileId, Span};

/// A part of what a finding means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fact {
    /// A name stands for nothing.
    Unknown(Unknown),
    /// The declaration that the finding speaks of, by the place of its name.
    About(Span),
    /// The place of the value that it speaks of: `state.draft`.
    Value(AccessPath),
    /// A value of some type does not fit what is declared, by its home and name.
    Refused {
        /// Where what takes it is declared: among which names, or the place of its own.
        by: Home,
        /// What takes it.
        name: String,
        /// The type of the value.
        found: String,
    },
    /// It speaks of a form of another language.
    Foreign,
    /// It holds where no condition on the way has shown otherwise.
    Unproven,
    /// The file whose top-level names were looked through, where it is not the one that the finding lies in.
    Module(FileId),
}

/// A name that stands for nothing where it is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unknown {
    /// The name as it is written.
    pub name: String,
    /// Where it was looked for.
    pub home: Home,
    /// A name there that is close.
    pub near: Option<String>,
}

/// Where a name is looked for. Declarations are told by the places of their names; `None` is the one that the use lies in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Home {
    /// Top-level names of the file.
    Items,
    /// Fields of a graph's state.
    State(Option<Span>),
    /// Nodes of a graph.
    Nodes(Option<Span>),
    /// Names by which a graph leaves.
    Leaves(Option<Span>),
    /// Names in scope of the node, tool, prompt or reducer.
    Scope(Option<Span>),
    /// Fields of a record, by its number.
    Record(u32),
    /// Members of an enum, by its number.
    Enum(u32),
    /// What a declaration takes by name: parameters, a payload, an input.
    Takes(Span),
}
