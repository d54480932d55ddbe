//! Safety: what a flow may do without a person, and what may flow where.
//!
//! [`safety`] is the entry. Nothing here types an expression, and nothing counts but what is declared: effects of
//! tools, marks of values (`@untrusted @private @secret @sink`), and where a run can go ([`Flow`]).
//!
//! Reading order: [`reads`] (what an expression mentions), [`approval`] (destructive tools behind a person).

pub mod approval;
pub mod reads;

use crate::base::IdVec;
use crate::diag::Diagnostics;
use crate::ir::GraphId;
use crate::resolve::Program;

use super::flow::Flow;

/// All rules of safety. `flows` are the flows of the program's graphs.
pub fn safety(program: &Program, flows: &IdVec<GraphId, Flow>, diags: &mut Diagnostics) {
    approval::approvals(program, flows, diags);
}
