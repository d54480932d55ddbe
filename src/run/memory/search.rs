//! What is looked for.

use super::filter::Filter;
use crate::ir::memory::space::Space;

/// A search of a namespace and of all below it.
#[derive(Debug, Clone, PartialEq)]
pub struct Search {
    /// What the namespaces begin with.
    pub prefix: Space,
    /// What values must be.
    pub filter: Filter,
    /// What items should be near to.
    pub near: Option<Near>,
    /// The most items.
    pub limit: usize,
    /// The most bytes of their values as JSON. What is found ends with the item that goes beyond it, which says that there was more.
    pub most_bytes: usize,
    /// How many to leave out at the beginning.
    pub offset: usize,
    /// Whether the time of what is found begins anew.
    pub refresh: bool,
}

/// A vector, and what made it: only vectors of the same making and length are compared.
#[derive(Debug, Clone, PartialEq)]
pub struct Near {
    /// [`Embedder::name`](super::Embedder::name).
    pub embedder: String,
    /// Of length 1.
    pub vector: Vec<f32>,
}
