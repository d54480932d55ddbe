//! `shadowing`: a name that hides another one at the same place.

use crate::ast::Name;
use crate::ast::expr::{Expr, ExprKind};
use crate::ast::graph::Member;
use crate::ast::item::{Item, ToolBody};
use crate::ast::node::{Jumps, Node, PropertyKind};
use crate::ast::target::{Jump, Target, TargetKind};
use crate::base::{FileId, Span};
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::expr::infer::macros::bound;

use super::cx::Cx;
use super::expr::{children, of_node, of_tool};

/// Names that a node's expressions have without a declaration.
const GIVEN: [&str; 12] = [
    "state",
    "input",
    "output",
    "reply",
    "transcript",
    "results",
    "result",
    "answer",
    "error",
    "run",
    "params",
    "context",
];

/// Warns of names that a `let`, an `each`, a tool's parameter or a macro such as `map` brings in, and that stand
/// for something else there already.
pub fn lint(cx: &Cx<'_>, diags: &mut Diagnostics) {
    let mut names = Names {
        known: Vec::new(),
        diags,
    };
    let mut current = None;
    for (file, item) in cx.items() {
        // Items come file by file.
        if current != Some(file) {
            current = Some(file);
            names.known = imports(cx, file);
        }
        let outer = names.known.len();
        match item {
            Item::Graph(graph) => {
                for member in &graph.members {
                    if let Member::Node(node) = member {
                        names.node(node);
                    }
                }
            }
            Item::Tool(tool) => {
                for param in &tool.params {
                    names.declare("parameter", &param.name);
                }
                tool.body.iter().for_each(|body| names.tool(body));
            }
            Item::Reducer(reducer) => {
                for param in &reducer.params {
                    names.declare("parameter", &param.name);
                }
                names.within(&reducer.body);
            }
            _ => {}
        }
        names.known.truncate(outer);
    }
}

/// A name in scope: what it is, and where it is declared.
type Known<'a> = (&'static str, &'a str, Option<Span>);

/// What a file imports, under its names here.
fn imports<'p>(cx: &Cx<'p>, file: FileId) -> Vec<Known<'p>> {
    let items = cx.items().filter(|(of, _)| *of == file);
    let imports = items.filter_map(|(_, item)| match item {
        Item::Import(import) => Some(&import.names),
        _ => None,
    });
    let names = imports
        .flatten()
        .map(|name| name.alias.as_ref().unwrap_or(&name.name));
    names
        .map(|name| ("import", name.node.as_str(), Some(name.span)))
        .collect()
}

/// Names in scope, the innermost last, each with what it is and where.
struct Names<'a, 'd> {
    known: Vec<Known<'a>>,
    diags: &'d mut Diagnostics,
}

impl<'a> Names<'a, '_> {
    /// Adds a name; warns where it hides another.
    fn declare(&mut self, what: &'static str, name: &'a Name) {
        self.hides(&name.node, name.span);
        self.known.push((what, &name.node, Some(name.span)));
    }

    fn hides(&mut self, name: &str, span: Span) {
        let hidden = self.known.iter().rfind(|(_, known, _)| *known == name);
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
        let given = GIVEN.iter().map(|name| ("", *name, None));
        self.known.extend(given);
        for property in &node.properties {
            if let PropertyKind::Let(bound) = &property.kind {
                self.declare("`let`", &bound.name);
            }
        }
        for expr in of_node(node) {
            self.within(expr);
        }
        let mut loops = Vec::new();
        node.edge.iter().for_each(|target| each(target, &mut loops));
        for property in &node.properties {
            match &property.kind {
                PropertyKind::Goto(jumps) | PropertyKind::OnError(jumps) => {
                    of_jumps(jumps, &mut loops);
                }
                _ => {}
            }
        }
        for name in loops {
            self.hides(&name.node, name.span);
        }
        self.known.truncate(outer);
    }

    fn tool(&mut self, body: &'a ToolBody) {
        let outer = self.known.len();
        for read in &body.reads {
            self.known
                .push(("field", read.name.node.as_str(), Some(read.name.span)));
        }
        for bound in &body.lets {
            self.declare("`let`", &bound.name);
        }
        for expr in of_tool(body) {
            self.within(expr);
        }
        self.known.truncate(outer);
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
                return children(expr)
                    .into_iter()
                    .for_each(|child| self.within(child));
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
                self.known
                    .push(("loop name", name.as_str(), Some(var.span)));
            }
        }
        inside.iter().for_each(|arg| self.within(arg));
        self.known.truncate(outer);
    }
}

/// The loop names of a target.
fn each<'a>(target: &'a Target, found: &mut Vec<&'a Name>) {
    match &target.kind {
        TargetKind::Each { var, .. } => found.push(var),
        TargetKind::All(targets) => targets.iter().for_each(|target| each(target, found)),
        _ => {}
    }
}

fn of_jumps<'a>(jumps: &'a Jumps, found: &mut Vec<&'a Name>) {
    let mut jump = |jump: &'a Jump| each(&jump.target, found);
    match jumps {
        Jumps::Always(one) => jump(one),
        Jumps::Arms(arms, _) => arms.iter().for_each(|arm| jump(&arm.jump)),
    }
}
