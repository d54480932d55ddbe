//! Texts that the runtime compiles: expressions and templates, with their places.

use std::sync::{Arc, OnceLock};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ast;
use crate::expr::eval::{CompileError, read};

/// A place in the flow's source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Place {
    /// Index into the flow's `files`.
    pub file: u32,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1, in characters.
    pub column: u32,
    /// Offset in the file, in bytes.
    pub offset: u32,
}

/// What the text of an expression says. Spans count from the start of the text.
pub type Tree = Arc<ast::expr::Expr>;

/// An expression of the language: its text, which is all that is written to JSON, and its tree.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Expr {
    /// Its text.
    pub text: String,
    /// Where the text begins.
    pub at: Place,
    /// What the text says; of an expression that was loaded it is made when it is first asked for.
    #[serde(skip)]
    #[schemars(skip)]
    tree: OnceLock<Result<Tree, CompileError>>,
}

/// The text says it all.
impl PartialEq for Expr {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text && self.at == other.at
    }
}

impl Expr {
    /// That text.
    pub fn new(text: String, at: Place) -> Self {
        Self {
            text,
            at,
            tree: OnceLock::new(),
        }
    }

    /// A text that was parsed: `tree` is its tree, with spans that count from the start of the file.
    pub fn of_tree(text: String, at: Place, tree: &ast::expr::Expr) -> Self {
        let mut tree = tree.clone();
        tree.move_back(at.offset);
        Self {
            text,
            at,
            tree: Ok(Arc::new(tree)).into(),
        }
    }

    /// Its tree.
    ///
    /// # Errors
    /// Where the text of an IR that was not made here is no expression.
    pub fn tree(&self) -> Result<&Tree, &CompileError> {
        self.tree
            .get_or_init(|| read(&self.text).map(Arc::new))
            .as_ref()
    }
}

/// A Jinja template, indentation and escapes already removed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Template {
    /// Its text.
    pub text: String,
    /// Where the literal begins, or the file that holds it.
    pub at: Place,
    /// Where parts of the text stand in the file, ascending. From one to the next both run side by side.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub anchors: Vec<Anchor>,
    /// For the text of a named prompt: its parameters with their values in the scope of the place, which are the only
    /// names of the text. `None` where its names are those of the place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<Vec<Named>>,
}

/// A point of a template's text, and where it stands in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Anchor {
    /// Offset in the text, in bytes.
    pub text: u32,
    /// Line in the file, from 1.
    pub line: u32,
    /// Column, from 1, in characters.
    pub column: u32,
}

/// A name and the expression of its value: arguments, bindings, payloads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Named {
    /// The name.
    pub name: String,
    /// Its value.
    pub value: Expr,
}
