//! A `skip` without a target: the node's own way on is taken, and may need what a skipped node has not.

use crate::ast::expr::Expr;
use crate::ast::item::NamedArg;
use crate::diag::{Diagnostic, codes};
use crate::expr::infer::reads;
use crate::resolve::program::{Jump, Node, Route, TargetKind};

use super::cx::Cx;

impl Cx<'_> {
    /// Reports a way on that reads a `let` name or what the work gives, where a `skip` leads to it.
    /// `names` is how many names were in scope before those of the node.
    pub fn skipped_way_on(&mut self, node: &Node, names: usize) {
        let Some(skip) = node.skips.iter().find(|skip| skip.to.is_none()) else {
            return;
        };
        let found = expressions(node).into_iter().find_map(|expr| {
            let slots = reads(expr, &self.scope).slots;
            let own = slots.into_iter().find_map(|slot| {
                let (name, _) = self.scope.names.get(slot.0 as usize)?;
                (slot.0 as usize >= names && name != "input").then(|| name.clone())
            });
            Some((expr.span, own?))
        });
        if let Some((place, name)) = found {
            self.report(
                Diagnostic::new(
                    &codes::SKIP_NEEDS_TARGET,
                    format!("`skip` without a target goes on where `{name}` is read"),
                    skip.span,
                )
                .label(place, format!("a skipped node has no `{name}`"))
                .help("say where to go: `skip when .. -> TARGET`"),
            );
        }
    }
}

/// All expressions on a node's own way on.
fn expressions(node: &Node) -> Vec<&Expr> {
    let mut found = Vec::new();
    for arm in node.goto.iter().filter_map(|goto| match &goto.node {
        Route::Arms(arms, _) => Some(arms),
        Route::Always(_) => None,
    }) {
        found.extend(arm.iter().filter_map(|arm| arm.when.as_ref()));
    }
    let jumps = node.goto.iter().flat_map(|goto| goto.node.jumps());
    jumps
        .chain(&node.edges)
        .for_each(|jump| in_jump(jump, &mut found));
    found
}

fn in_jump<'a>(jump: &'a Jump, found: &mut Vec<&'a Expr>) {
    let values = |args: &'a [NamedArg]| args.iter().map(|arg| &arg.value);
    found.extend(jump.set.iter().map(|item| &item.value));
    for emit in &jump.emits {
        found.extend(emit.when.iter().chain(values(&emit.fields)));
    }
    for target in &jump.to {
        match &target.kind {
            TargetKind::Fail(message) => found.extend(message.as_deref()),
            TargetKind::Computed(name) => found.push(name),
            TargetKind::Each(each) | TargetKind::NamedEach(each) => {
                found.push(&each.items);
                found.extend(values(&each.with));
            }
            TargetKind::Node(_)
            | TargetKind::End
            | TargetKind::Parent(_)
            | TargetKind::Named(_)
            | TargetKind::Unknown => {}
        }
    }
}
