//! `migrate { .. }`: what became of names that an earlier version of the graph had.

use crate::ast::Name;
use crate::ast::graph::{Graph as Written, Member, Migration};
use crate::base::Span;
use crate::diag::{Diagnostic, codes};

use super::super::Resolver;
use super::super::graph::{Migrate, NewDefault};
use super::super::names::Seen;
use super::Inside;

/// Names that the lines have spoken of so far.
#[derive(Default)]
struct Spoken<'w> {
    old_fields: Seen<'w>,
    new_fields: Seen<'w>,
    old_nodes: Seen<'w>,
    new_nodes: Seen<'w>,
    defaults: Seen<'w>,
}

impl Resolver<'_> {
    /// Resolves the lines of all `migrate` blocks into the graph.
    pub(super) fn migrate(&mut self, inside: &Inside, written: &Written) {
        let mut migrate = Migrate::default();
        let mut spoken = Spoken::default();
        for member in &written.members {
            if let Member::Migrate(lines, _) = member {
                for line in lines {
                    self.migration(inside, line, &mut migrate, &mut spoken);
                }
            }
        }
        self.program.graphs[inside.graph].migrate = migrate;
    }

    fn migration<'w>(
        &mut self,
        inside: &Inside,
        line: &'w Migration,
        migrate: &mut Migrate,
        spoken: &mut Spoken<'w>,
    ) {
        match line {
            Migration::RenameField(old, new) => {
                let fresh = self.once(&mut spoken.old_fields, "field", old)
                    & self.once(&mut spoken.new_fields, "field", new);
                let declared = self.field_at(inside, old);
                let gone = self.gone(inside, old, ("field", "renamed", new), declared);
                if gone && self.field_named(inside, new).is_some() && fresh {
                    migrate.fields.push((old.clone(), new.clone()));
                }
            }
            Migration::RenameNode(old, new) => {
                let fresh = self.once(&mut spoken.old_nodes, "node", old)
                    & self.once(&mut spoken.new_nodes, "node", new);
                let node = inside.nodes.get(&old.node);
                let declared =
                    node.map(|id| self.program.graphs[inside.graph].nodes[*id].name.span);
                let gone = self.gone(inside, old, ("node", "renamed", new), declared);
                if gone && !inside.nodes.contains_key(&new.node) {
                    self.no_node(inside, new);
                } else if gone && fresh {
                    migrate.nodes.push((old.clone(), new.clone()));
                }
            }
            Migration::DropField(old) => {
                let fresh = self.once(&mut spoken.old_fields, "field", old);
                let declared = self.field_at(inside, old);
                if self.gone(inside, old, ("field", "dropped", old), declared) && fresh {
                    migrate.dropped.push(old.clone());
                }
            }
            Migration::Default(name, value) => {
                let fresh = self.once(&mut spoken.defaults, "field", name);
                let value = self.expr(inside.file, value);
                if let Some(field) = self.field_named(inside, name).filter(|_| fresh) {
                    migrate.defaults.push(NewDefault {
                        field,
                        name: name.clone(),
                        value,
                    });
                }
            }
        }
    }

    fn field_at(&self, inside: &Inside, name: &Name) -> Option<Span> {
        let field = inside.fields.get(&name.node)?;
        Some(self.program.graphs[inside.graph].fields[*field].name.span)
    }

    /// Whether nothing has the old name any more; reported otherwise.
    fn gone(
        &mut self,
        inside: &Inside,
        old: &Name,
        (what, became, new): (&str, &str, &Name),
        declared: Option<Span>,
    ) -> bool {
        let Some(declared) = declared else {
            return true;
        };
        let (message, help) = match what == "field" && inside.fields.contains_key(&new.node)
            || what == "node" && inside.nodes.contains_key(&new.node)
        {
            true => (
                format!(
                    "{what} `{}` is {became}, but `{}` still has it",
                    old.node, inside.name
                ),
                "name what threads of an earlier version have, and this one has no more".to_owned(),
            ),
            false => (
                format!(
                    "{what} `{}` is renamed to `{}`, but `{}` has the first and not the second",
                    old.node, new.node, inside.name
                ),
                format!(
                    "the old name comes first: `rename {what} {} -> {}`",
                    new.node, old.node
                ),
            ),
        };
        let found = Diagnostic::new(&codes::BAD_MIGRATION, message, old.span);
        self.diags
            .push(found.label(declared, "declared here").help(help));
        false
    }
}
