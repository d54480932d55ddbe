//! Drawings of a flow, for documents and reviews: text that mermaid and Graphviz make pictures of, SVG,
//! and a page that stands for itself.
//!
//! [`draw`] takes the IR. [`picture`] is what is drawn: boxes, frames and arrows, whatever the form.
//! [`sketch`] makes the boxes of a graph and of the subgraphs opened in it, [`arrows`] reads the arrows
//! from its routes, [`jumps`] those that tools take, [`computed`] says where a computed name may lead, [`label`] shortens what is written on them, [`risk`] says what a reviewer must see.
//! [`trace`] says where a thread went, [`taken`] finds the arrows that it took.
//! [`mermaid`], [`dot`], [`svg`] and [`page`] write the forms. How a box of a kind looks is theirs to
//! say. The store of a thread is read by the command line: nothing here touches the machine.

pub mod arrows;
mod computed;
pub mod dot;
mod jumps;
pub mod label;
pub mod mermaid;
pub mod page;
pub mod picture;
pub mod risk;
pub mod sketch;
pub mod svg;
pub mod taken;
pub mod trace;

use crate::ir::{Flow, GraphId};

use picture::{Legend, Picture};
use svg::TooLarge;
use trace::Trace;

/// The form of a drawing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A mermaid flowchart, as Markdown shows it.
    Mermaid,
    /// Graphviz.
    Dot,
    /// A picture.
    Svg,
    /// A page with the picture, and what is known of each node.
    Html,
}

/// What is drawn, and how.
#[derive(Debug, Clone, Copy)]
pub struct Drawing<'a> {
    /// The form.
    pub form: Form,
    /// How deep subgraphs are opened; 0 leaves them closed.
    pub depth: usize,
    /// Whether kinds of arrows are explained.
    pub legend: bool,
    /// The thread whose way is marked.
    pub trace: Option<&'a Trace>,
}

impl Drawing<'_> {
    /// A drawing with all subgraphs closed.
    pub fn of(form: Form) -> Self {
        Self {
            form,
            depth: 0,
            legend: true,
            trace: None,
        }
    }
}

/// A drawing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drawn {
    /// Its text.
    pub text: String,
    /// Subgraphs that were left closed although they were to be opened.
    pub closed: usize,
}

/// Draws graphs of a flow; several are framed, each with its name.
///
/// # Errors
/// Where a graph has more boxes or arrows than can be laid out in a picture.
pub fn draw(flow: &Flow, graphs: &[GraphId], drawing: &Drawing<'_>) -> Result<Drawn, TooLarge> {
    let picture = Picture::of(flow, graphs, drawing.depth, drawing.trace);
    let legend = match drawing.legend {
        true => picture.legend(),
        false => Legend::default(),
    };
    let text = match drawing.form {
        Form::Mermaid => mermaid::write(&picture, &legend),
        Form::Dot => dot::write(&picture, &legend),
        Form::Svg => svg::write(&picture, &legend)?,
        Form::Html => page::write(flow, &picture, &legend)?,
    };
    Ok(Drawn {
        text,
        closed: picture.closed(),
    })
}
