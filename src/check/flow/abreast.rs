//! What may run in the same super-step, for each graph of a program: followed when it is first asked for, once for all rules.

use std::cell::RefCell;
use std::rc::Rc;

use crate::base::IdVec;
use crate::ir::GraphId;

use super::model::Flow;
use super::together::Together;

/// The flows of a program, with what runs side by side in them.
pub struct Abreast<'a> {
    /// The flows.
    pub flows: &'a IdVec<GraphId, Flow>,
    known: IdVec<GraphId, RefCell<Option<Rc<Together<'a>>>>>,
}

impl<'a> Abreast<'a> {
    /// Nothing is followed yet.
    pub fn new(flows: &'a IdVec<GraphId, Flow>) -> Self {
        Self {
            flows,
            known: flows.iter().map(|_| RefCell::default()).collect(),
        }
    }

    /// What may run together in a graph.
    pub fn of(&self, id: GraphId) -> Option<Rc<Together<'a>>> {
        let (flow, known) = (self.flows.get(id)?, self.known.get(id)?);
        let mut known = known.borrow_mut();
        let together = known.get_or_insert_with(|| Rc::new(Together::new(flow)));
        Some(together.clone())
    }

    /// The same, which nothing asks for again.
    pub fn take(&self, id: GraphId) -> Option<Rc<Together<'a>>> {
        let together = self.of(id);
        if let Some(known) = self.known.get(id) {
            known.take();
        }
        together
    }
}
