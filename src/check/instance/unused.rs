//! Parameters of graphs that nothing uses.

use std::collections::BTreeSet;

use crate::ast::expr::{Expr, ExprKind};
use crate::ast::template::each_expr;
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::expr::template::tree;
use crate::resolve::Program;
use crate::resolve::exprs::{Site, Written, sites_of_graph, sites_of_node};
use crate::resolve::program::Graph;

/// Warns of them.
pub fn unused(program: &Program, diags: &mut Diagnostics) {
    let mut report = |graph: &Graph, name: &str, span, help: &str| {
        let message = format!(
            "nothing in graph `{}` uses its parameter `{name}`",
            graph.name.node
        );
        let found = Diagnostic::new(&codes::UNUSED_PARAMETER, message, span);
        diags.push(found.help(help.to_owned()));
    };
    for graph in &program.graphs {
        for name in &graph.unused_params {
            report(graph, &name.node, name.span, "use it, or take it out");
        }
        if graph.params.is_empty() {
            continue;
        }
        let used = used(graph);
        let unused = graph.params.iter().map(|param| &param.name);
        for name in unused.filter(|name| !used.all && !used.names.contains(name.as_str())) {
            let help = format!("use `params.{}`, or take it out", name.node);
            report(graph, &name.node, name.span, &help);
        }
    }
}

/// Parameters that expressions use.
#[derive(Default)]
struct Used<'g> {
    names: BTreeSet<&'g str>,
    /// Whether `params` stands alone, so that all of them may be meant.
    all: bool,
}

fn used(graph: &Graph) -> Used<'_> {
    let mut used = Used::default();
    let defaults = graph
        .fields
        .iter()
        .filter_map(|field| field.default.as_ref());
    let alone = defaults.chain(&graph.recursion_by);
    alone.for_each(|expr| used.expr(expr));
    let nodes = graph.nodes.iter().flat_map(sites_of_node);
    for site in nodes.chain(sites_of_graph(graph)) {
        site.exprs().for_each(|expr| used.expr(expr));
        used.text(&site);
    }
    used
}

impl<'g> Used<'g> {
    fn expr(&mut self, expr: &'g Expr) {
        match &expr.kind {
            ExprKind::Ident(name) => self.all |= name == "params",
            ExprKind::Select { operand, field, .. } if is_params(operand) => {
                self.names.insert(&field.node);
            }
            _ => expr.each_part(|part| self.expr(part)),
        }
    }

    fn text(&mut self, site: &Site<'g>) {
        if let Written::Text(words) = site.written
            && words.from.is_none()
        {
            each_expr(&tree(&words.text).body, |expr| self.expr(expr));
        }
    }
}

fn is_params(expr: &Expr) -> bool {
    matches!(&expr.kind, ExprKind::Ident(name) if name == "params")
}
