//! `shadowing`: a name that hides another one at the same place.

use std::collections::HashMap;

use crate::ast::Name;
use crate::ast::expr::{Expr, ExprKind};
use crate::ast::item::Item;
use crate::base::{FileId, Span};
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::expr::infer::macros::bound;
use crate::resolve::exprs::{of_node, of_tool};
use crate::resolve::naming::IN_SCOPE;
use crate::resolve::program::{Node, TargetKind, ToolBody};

use super::cx::Cx;

/// Warns of names that a `let`, an `each`, a tool's parameter or a macro such as `map` brings in, and that stand
/// for something else there already.
pub fn lint(cx: &Cx<'_>, diags: &mut Diagnostics) {
    let imports = imports(cx);
    let mut names = Names {
        known: Vec::new(),
        places: HashMap::new(),
        file: None,
        imports: &imports,
        diags,
    };
    for graph in &cx.program.graphs {
        names.enter(graph.file);
        let outer = names.known.len();
        IN_SCOPE
            .iter()
            .for_each(|name| names.bring(("", name, None)));
        graph.nodes.iter().for_each(|node| names.node(node));
        names.leave(outer);
    }
    for tool in &cx.program.tools {
        names.enter(tool.span.file);
        for param in &tool.params {
            names.declare("parameter", &param.name);
        }
        tool.body.iter().for_each(|body| names.tool(body));
    }
    for reducer in &cx.program.reducers {
        names.enter(reducer.name.span.file);
        for param in [&reducer.old, &reducer.new] {
            names.declare("parameter", &param.name);
        }
        names.within(&reducer.body);
    }
}

/// A name in scope: what it is, and where it is declared.
type Known<'a> = (&'static str, &'a str, Option<Span>);

/// What each file imports, under its names there.
fn imports<'p>(cx: &Cx<'p>) -> HashMap<FileId, Vec<Known<'p>>> {
    let mut imports: HashMap<FileId, Vec<Known<'p>>> = HashMap::new();
    for (file, item) in cx.items() {
        let Item::Import(import) = item else { continue };
        let names = import
            .names
            .iter()
            .map(|name| name.alias.as_ref().unwrap_or(&name.name));
        let known = names.map(|name| ("import", name.node.as_str(), Some(name.span)));
        imports.entry(file).or_default().extend(known);
    }
    imports
}

/// Names in scope, the innermost last, each with what it is and where.
struct Names<'a, 'd> {
    known: Vec<Known<'a>>,
    /// Where each name stands among them.
    places: HashMap<&'a str, Vec<usize>>,
    /// Whose imports come first, and how many they are.
    file: Option<(FileId, usize)>,
    imports: &'d HashMap<FileId, Vec<Known<'a>>>,
    diags: &'d mut Diagnostics,
}

impl<'a> Names<'a, '_> {
    /// Begins anew with what a file imports.
    fn enter(&mut self, file: FileId) {
        if let Some((_, imports)) = self.file.filter(|(known, _)| *known == file) {
            return self.leave(imports);
        }
        self.leave(0);
        let imports = self.imports;
        for known in imports.get(&file).into_iter().flatten() {
            self.bring(*known);
        }
        self.file = Some((file, self.known.len()));
    }

    fn bring(&mut self, known: Known<'a>) {
        let places = self.places.entry(known.1).or_default();
        places.push(self.known.len());
        self.known.push(known);
    }

    /// Takes out all names but the first ones.
    fn leave(&mut self, count: usize) {
        for (_, name, _) in self.known.drain(count.min(self.known.len())..) {
            self.places.get_mut(name).map(Vec::pop);
        }
    }

    /// Adds a name; warns where it hides another.
    fn declare(&mut self, what: &'static str, name: &'a Name) {
        self.hides(&name.node, name.span);
        self.bring((what, &name.node, Some(name.span)));
    }

    fn hides(&mut self, name: &str, span: Span) {
        let hidden = self.places.get(name).and_then(|places| places.last());
        let hidden = hidden.and_then(|at| self.known.get(*at));
        let Some((what, _, place)) = hidden else {
            return;
        };
        let message = match place {
            Some(_) => format!("`{name}` hides the {what} of the same name"),
            None => format!("`{name}` hides what a node's expressions know by that name"),
        };
        let finding = Diagnostic::new(&codes::SHADOWING, message, span).help("choose another name");
        self.diags.push(match place {
            Some(place) => finding.label(*place, "hidden here"),
            None => finding,
        });
    }

    fn node(&mut self, node: &'a Node) {
        let outer = self.known.len();
        for bound in &node.lets {
            self.declare("`let`", &bound.name);
        }
        for expr in of_node(node) {
            self.within(expr);
        }
        for target in node.targets() {
            if let TargetKind::Each(each) = &target.kind {
                self.hides(&each.var.node, each.var.span);
            }
        }
        self.leave(outer);
    }

    fn tool(&mut self, body: &'a ToolBody) {
        let outer = self.known.len();
        for read in &body.reads {
            self.bring(("field", read.name.node.as_str(), Some(read.name.span)));
        }
        for bound in &body.lets {
            self.declare("`let`", &bound.name);
        }
        for expr in of_tool(body) {
            self.within(expr);
        }
        self.leave(outer);
    }

    /// Looks at the names that macros bind inside an expression.
    fn within(&mut self, expr: &'a Expr) {
        let (target, function, args) = match &expr.kind {
            ExprKind::Call {
                target: Some(target),
                function,
                args,
            } => (target, function, args),
            _ => {
                return expr.each_part(|child| self.within(child));
            }
        };
        self.within(target);
        let (count, outside) =
            bound(&function.node, args).map_or((0, 0), |(vars, outside)| (vars.len(), outside));
        let (vars, rest) = args.split_at_checked(count).unwrap_or((&[], args));
        let (before, inside) = rest.split_at_checked(outside).unwrap_or((rest, &[]));
        before.iter().for_each(|arg| self.within(arg));
        let outer = self.known.len();
        for var in vars {
            if let ExprKind::Ident(name) = &var.kind {
                self.hides(name, var.span);
                self.bring(("loop name", name.as_str(), Some(var.span)));
            }
        }
        inside.iter().for_each(|arg| self.within(arg));
        self.leave(outer);
    }
}
