//! `migrate { .. }`: what became of names that an earlier version of the graph had.

use crate::ast::Name;
use crate::ast::graph::{Graph as Written, Member, Migration};
use crate::base::Span;
use crate::diag::{Diagnostic, Home, codes};

use super::super::Resolver;
use super::super::graph::{Migrate, NewDefault};
use super::Inside;

/// Names that the lines have spoken of so far.
#[derive(Default)]
struct Spoken<'w> {
    old_fields: Vec<&'w Name>,
    new_fields: Vec<&'w Name>,
    old_nodes: Vec<&'w Name>,
    new_nodes: Vec<&'w Name>,
    defaults: Vec<&'w Name>,
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
                if fresh
                    && let (Some(now), None) =
                        (inside.fields.get(&old.node), inside.fields.get(&new.node))
                {
                    let declared = self.program.graphs[inside.graph].fields[*now].name.span;
                    return self.turned_round(inside, (old, new), "field", declared);
                }
                let gone = self.gone_field(inside, old, "renamed");
                if self.field_named(inside, new).is_some() && gone && fresh {
                    migrate.fields.push((old.clone(), new.clone()));
                }
            }
            Migration::RenameNode(old, new) => {
                let fresh = self.once(&mut spoken.old_nodes, "node", old)
                    & self.once(&mut spoken.new_nodes, "node", new);
                if fresh
                    && let (Some(now), None) =
                        (inside.nodes.get(&old.node), inside.nodes.get(&new.node))
                {
                    let declared = self.program.graphs[inside.graph].nodes[*now].name.span;
                    return self.turned_round(inside, (old, new), "node", declared);
                }
                let gone = self.gone_node(inside, old);
                if self.renamed_node(inside, new) && gone && fresh {
                    migrate.nodes.push((old.clone(), new.clone()));
                }
            }
            Migration::DropField(old) => {
                let fresh = self.once(&mut spoken.old_fields, "field", old);
                if self.gone_field(inside, old, "dropped") && fresh {
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

    /// The new name is that of nothing, the old one still that of something.
    fn turned_round(
        &mut self,
        inside: &Inside,
        (old, new): (&Name, &Name),
        what: &str,
        declared: Span,
    ) {
        let message = format!(
            "{what} `{}` is renamed to `{}`, but `{}` has the first and not the second",
            old.node, new.node, inside.name
        );
        self.diags.push(
            Diagnostic::new(&codes::BAD_MIGRATION, message, old.span)
                .label(declared, "declared here")
                .help(format!(
                    "the old name comes first: `rename {what} {} -> {}`",
                    new.node, old.node
                ))
                .fix(old.span, new.node.clone())
                .fix(new.span, old.node.clone()),
        );
    }

    fn once<'w>(&mut self, seen: &mut Vec<&'w Name>, what: &str, name: &'w Name) -> bool {
        match seen.iter().find(|known| known.node == name.node) {
            Some(first) => {
                self.twice(what, first, name);
                false
            }
            None => {
                seen.push(name);
                true
            }
        }
    }

    fn gone_field(&mut self, inside: &Inside, old: &Name, became: &str) -> bool {
        let Some(field) = inside.fields.get(&old.node) else {
            return true;
        };
        let declared = self.program.graphs[inside.graph].fields[*field].name.span;
        self.still_there(
            inside,
            old,
            &format!("field `{}` is {became}", old.node),
            declared,
        );
        false
    }

    fn gone_node(&mut self, inside: &Inside, old: &Name) -> bool {
        let Some(node) = inside.nodes.get(&old.node) else {
            return true;
        };
        let declared = self.program.graphs[inside.graph].nodes[*node].name.span;
        self.still_there(
            inside,
            old,
            &format!("node `{}` is renamed", old.node),
            declared,
        );
        false
    }

    fn still_there(&mut self, inside: &Inside, old: &Name, what: &str, declared: Span) {
        let message = format!("{what}, but `{}` still has it", inside.name);
        let diagnostic = Diagnostic::new(&codes::BAD_MIGRATION, message, old.span)
            .label(declared, "declared here")
            .help("name what threads of an earlier version have, and this one has no more");
        self.diags.push(diagnostic);
    }

    fn renamed_node(&mut self, inside: &Inside, new: &Name) -> bool {
        if inside.nodes.contains_key(&new.node) {
            return true;
        }
        if !self.is_lost(inside.file, &new.node) {
            let message = format!("`{}` has no node `{}`", inside.name, new.node);
            let near = inside.nodes.keys().map(String::as_str);
            let near: Vec<&str> = near.collect();
            let diagnostic = Diagnostic::new(&codes::UNKNOWN_NODE, message, new.span)
                .unknown(&new.node, Home::Nodes(None));
            self.diags
                .push(diagnostic.meant(new.span, &new.node, near, "its nodes are"));
        }
        false
    }
}
