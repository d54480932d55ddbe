//! What a flowchart shows.

use crate::base::Span;

/// A flowchart.
#[derive(Debug, Default)]
pub struct Drawing {
    /// The boxes, in the order in which they are first named.
    pub boxes: Vec<DrawnBox>,
    /// The arrows, in the order drawn.
    pub arrows: Vec<Arrow>,
    /// The frames around boxes.
    pub frames: Vec<Frame>,
}

/// A box of the flowchart.
#[derive(Debug)]
pub struct DrawnBox {
    /// Its id, without escapes.
    pub id: String,
    /// What is written in it, where it is drawn and not only named by an arrow.
    pub label: Option<String>,
    /// What LangGraph writes below a line in it: `__interrupt = before`, `defer = True`.
    pub notes: Option<String>,
    /// The frame that it stands in.
    pub frame: Option<usize>,
    /// Where it is first named.
    pub span: Span,
}

/// An arrow of the flowchart.
#[derive(Debug)]
pub struct Arrow {
    /// The box that it leaves.
    pub from: usize,
    /// The box that it leads to.
    pub to: usize,
    /// What is written at it.
    pub label: Option<String>,
    /// Whether it is dotted, which LangGraph draws where a condition or a command decides.
    pub dotted: bool,
}

/// A frame: a subgraph.
#[derive(Debug)]
pub struct Frame {
    /// Its id: an arrow to a box of this id is one to the frame.
    pub id: String,
    /// Its title, or its id where it has none.
    pub title: String,
    /// The frame around it.
    pub around: Option<usize>,
}
