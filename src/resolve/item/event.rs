//! `event changeset.created { .. }`

use crate::ast::item::EventDecl;
use crate::base::FileId;

use super::super::Resolver;
use super::super::program::Event;

impl Resolver<'_> {
    /// An event and its payload.
    pub fn event(&mut self, file: FileId, decl: &EventDecl) {
        let fields = self.params(file, &decl.fields, "field", false);
        self.program.events.push(Event {
            name: decl.name.clone(),
            doc: decl.doc.clone(),
            fields,
        });
    }
}
