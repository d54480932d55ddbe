//! Fields under a reducer of one's own that begin without a value: the first write asks it for the value so far.

use crate::ast::expr::{Expr, ExprKind};
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::ir::Channel;
use crate::resolve::program::{Graph, Program, Reducer};

use super::types::facts::{begins_set, gathers_unset};

/// Reports those whose reducer reads the value so far.
pub fn missing(program: &Program, graph: &Graph, diags: &mut Diagnostics) {
    for field in graph.fields.iter().filter(|field| gathers_unset(field)) {
        let Channel::Own { reducer } = field.channel else {
            continue;
        };
        let Some(reducer) = program.reducers.get(reducer) else {
            continue;
        };
        let Some(read) = reads_old(reducer).filter(|_| !field.via_wrong && begins_set(field))
        else {
            continue;
        };
        let (name, by) = (&field.name.node, &reducer.name.node);
        let shown = program.types.show(&field.ty.node);
        diags.push(
            Diagnostic::new(
                &codes::READ_BEFORE_WRITE,
                format!(
                    "`{name}` has no first value, which its reducer `{by}` reads at the first write"
                ),
                field.name.span,
            )
            .about(field.name.span)
            .here("declared without a first value")
            .label(read.span, "read here")
            .help(format!("give it one, `{name}: {shown} via {by} = ..`")),
        );
    }
}

/// Where a reducer reads the value so far.
fn reads_old(reducer: &Reducer) -> Option<&Expr> {
    let mut open = vec![&reducer.body];
    while let Some(expr) = open.pop() {
        if matches!(&expr.kind, ExprKind::Ident(name) if *name == reducer.old.name.node) {
            return Some(expr);
        }
        expr.each_part(|part| open.push(part));
    }
    None
}
