//! `permit`: which calls the answer to a question permits.

use crate::ast::node::{Permit as Written, PermitEach};
use crate::diag::codes;

use super::super::Resolver;
use super::super::node::Permit;
use super::Inside;

impl Resolver<'_> {
    /// A permission of a question.
    pub(super) fn permit(&mut self, inside: &Inside, written: &Written) -> Permit {
        let file = inside.file;
        let tool = self.tool_named(file, &written.tool);
        if let Some(each) = &written.each {
            self.check_local_name(&each.var);
        }
        if written.args.is_none() && written.when.is_none() {
            self.permits_anything(written);
        }
        Permit {
            once: written.once.is_some(),
            each: written.each.as_ref().map(|each| PermitEach {
                var: each.var.clone(),
                items: self.expr(file, &each.items),
            }),
            tool,
            name: written.tool.clone(),
            args: (written.args.as_ref()).map(|args| self.named(file, args).into()),
            when: written.when.as_ref().map(|when| self.expr(file, when)),
            span: written.span,
        }
    }

    /// Any answer would permit a call with any arguments: then nobody had to be asked.
    fn permits_anything(&mut self, written: &Written) {
        let name = &written.tool.node;
        let message =
            format!("`permit {name}` says neither which arguments are permitted nor when");
        let help = format!(
            "pin what the person is shown: `permit {name}(PARAM: ..) when answer ..`; any arguments: `permit {name} when answer ..`"
        );
        self.report(&codes::MISSING_PROPERTY, message, written.span, help);
    }
}
