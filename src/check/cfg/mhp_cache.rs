//! What may run in the same super-step, for each graph of a program: followed when it is first asked for, once for all rules.

use std::cell::RefCell;
use std::rc::Rc;

use crate::base::IdVec;
use crate::ir::GraphId;

use super::mhp::MayHappenInParallel;
use super::model::ControlFlowGraph;

/// The flows of a program, with what runs side by side in them.
pub struct MhpCache<'a> {
    /// The flows.
    pub cfgs: &'a IdVec<GraphId, ControlFlowGraph>,
    known: IdVec<GraphId, RefCell<Option<Rc<MayHappenInParallel<'a>>>>>,
}

impl<'a> MhpCache<'a> {
    /// Nothing is followed yet.
    pub fn new(cfgs: &'a IdVec<GraphId, ControlFlowGraph>) -> Self {
        Self {
            cfgs,
            known: cfgs.iter().map(|_| RefCell::default()).collect(),
        }
    }

    /// What may run together in a graph.
    pub fn of(&self, id: GraphId) -> Option<Rc<MayHappenInParallel<'a>>> {
        let (cfg, known) = (self.cfgs.get(id)?, self.known.get(id)?);
        let mut known = known.borrow_mut();
        let mhp = known.get_or_insert_with(|| Rc::new(MayHappenInParallel::new(cfg)));
        Some(mhp.clone())
    }

    /// The same, which nothing asks for again.
    pub fn take(&self, id: GraphId) -> Option<Rc<MayHappenInParallel<'a>>> {
        let mhp = self.of(id);
        if let Some(known) = self.known.get(id) {
            known.take();
        }
        mhp
    }
}
