//! `context { .. }` of a graph.

use crate::ast::graph::{Graph as Written, Member};
use crate::base::FileId;

use super::super::Resolver;
use super::super::graph::Context;

impl Resolver<'_> {
    /// The graph's context. Of several blocks the first counts; the others are reported with the
    /// members.
    pub(super) fn context(&mut self, file: FileId, written: &Written) -> Option<Context> {
        let (fields, span) = written.members.iter().find_map(|member| match member {
            Member::Context(fields, span) => Some((fields, *span)),
            _ => None,
        })?;
        let fields = self.params(file, fields, "field", true);
        let of_record = self.record_fields(&fields);
        let record = self.synthetic(&format!("context of {}", written.name.node), of_record);
        Some(Context {
            fields,
            record,
            span,
        })
    }
}
