//! Drawings of a flow, for documents and reviews: text that mermaid and Graphviz make pictures of.
//!
//! [`draw`] takes the IR. [`picture`] is what is drawn: boxes and arrows, whatever the form;
//! [`arrows`] reads them from a graph's routes; [`label`] shortens what is written on them; [`mermaid`]
//! and [`dot`] write the forms. How a box of a kind looks is theirs to say.

pub mod arrows;
pub mod dot;
pub mod label;
pub mod mermaid;
pub mod picture;

use crate::ir::{Flow, GraphId};

use picture::Picture;

/// The form of a drawing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A mermaid flowchart, as Markdown shows it.
    Mermaid,
    /// Graphviz.
    Dot,
}

/// Draws graphs of a flow; several are framed, each with its name.
pub fn draw(flow: &Flow, graphs: &[GraphId], form: Form) -> String {
    let picture = Picture::of(flow, graphs);
    match form {
        Form::Mermaid => mermaid::write(&picture),
        Form::Dot => dot::write(&picture),
    }
}
