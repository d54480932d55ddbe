//! Drawings of other systems to the skeleton of a flow, and what servers offer to declarations of tools.
//!
//! [`skeleton`] reads a mermaid flowchart, such as LangGraph's `draw_mermaid()` gives, and writes a `.graph` text that
//! checks. A drawing says which nodes there are and where they lead; it doesn't say what a node does, what a condition asks,
//! or what the state holds. Each such thing is a [`Gap`]: the text names it in a comment, and the node is an `extern` that
//! no run passes over in silence.
//!
//! Reading order: [`mermaid`] (text to a [`Drawing`](drawing::Drawing)), [`drawing`] (what was drawn), [`graphs`]
//! (which graph each node belongs to, what it is called there, and where it leads), [`write`](mod@write) (the text). Beside it:
//! [`tools`] (tools with JSON Schemas to declarations).
//!
//! Not here: files and arguments (`cli::import`).

pub mod drawing;
mod graphs;
mod markdown;
mod mermaid;
pub mod tools;
mod write;

use std::ops::Range;

use crate::base::FileId;
use crate::diag::{Diagnostic, Diagnostics};
use crate::fmt;

pub use markdown::{Block, blocks};

/// The skeleton of a flow.
#[derive(Debug, PartialEq, Eq)]
pub struct Skeleton {
    /// The text, laid out.
    pub text: String,
    /// What the drawing doesn't say, in the order of the text.
    pub gaps: Vec<Gap>,
}

/// Something that the drawing doesn't say and a person has to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gap {
    /// What it is about: `Main`, `Main.planner`.
    pub about: String,
    /// What is missing.
    pub missing: String,
}

/// Reads the mermaid flowchart in these bytes of a text. `name` is what the graph is to be called.
///
/// # Errors
///
/// The first place that can't be read, or a drawing without a node.
pub fn skeleton(
    text: &str,
    bytes: Range<usize>,
    file: FileId,
    name: &str,
) -> Result<Skeleton, Box<Diagnostic>> {
    let drawing = mermaid::read(text, bytes, file)?;
    let graphs = graphs::graphs(&drawing, name);
    let (text, gaps) = write::text(&graphs);
    let text = fmt::format(&text, FileId(0), &mut Diagnostics::new()).unwrap_or(text);
    Ok(Skeleton { text, gaps })
}
