//! Fields whose value depends on which of two tasks of one super-step comes last in the fixed order.

use std::collections::{BTreeMap, BTreeSet};

use crate::ast::expr::{BinaryOp, Expr, ExprKind};
use crate::base::Span;
use crate::base::bit_set::ChunkedBitSet;
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::expr::Type;
use crate::ir::{Channel, FieldId, NodeId};
use crate::resolve::program::{Graph, Program, Reducer};

use super::cfg::past_reducer::HandedOn;
use super::cfg::writes_of;
use super::cfg::{BlockId, ControlFlowGraph, MayHappenInParallel, Write};

/// Why the order counts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Why {
    /// `any_last`, or an own reducer that may give another value the other way round.
    Reducer,
    /// `:=` beside a write that gathers.
    Replaced,
}

/// Reports them, each field once for each reason.
pub fn dependent(
    program: &Program,
    graph: &Graph,
    cfg: &ControlFlowGraph,
    mhp: &MayHappenInParallel,
    handed_on: &[HandedOn],
    diags: &mut Diagnostics,
) {
    let replaced = replaced(graph, handed_on);
    let by_order: BTreeSet<FieldId> = graph
        .fields
        .entries()
        .filter(|(_, field)| ordered(program, &field.channel))
        .map(|(id, _)| id)
        .collect();
    let past: BTreeSet<FieldId> = replaced
        .keys()
        .map(|(field, _)| *field)
        .filter(|id| {
            let field = graph.fields.get(*id);
            field.is_some_and(|field| field.channel.gathers())
        })
        .collect();
    if by_order.is_empty() && past.is_empty() {
        return;
    }
    let writes = cfg.nodes.ids().map(|id| {
        let mut writes = writes_of(cfg, id);
        writes.retain(|w| by_order.contains(&w.field) || past.contains(&w.field));
        writes
    });
    let writes: Vec<Vec<Write>> = writes.collect();
    let mut by_field: BTreeMap<FieldId, BTreeMap<NodeId, Vec<Write>>> = BTreeMap::new();
    for (id, writes) in cfg.nodes.ids().zip(writes) {
        for write in writes {
            let writers = by_field.entry(write.field).or_default();
            writers.entry(id).or_default().push(write);
        }
    }
    for (field, writers) in by_field {
        let why = match by_order.contains(&field) {
            true => Why::Reducer,
            false => Why::Replaced,
        };
        let past = |write: &Write| replaced.contains_key(&(write.field, write.span));
        let counts = |a: &Write, b: &Write| why == Why::Reducer || past(a) || past(b);
        if let Some((first, second)) = meeting(&writers, mhp, past, counts) {
            let last = if past(&first.1) { first.1 } else { second.1 };
            let inside = replaced.get(&(field, last.span)).copied().flatten();
            let pair = (first, second);
            let place = (why, last.span, inside);
            diags.push(report(program, graph, cfg, mhp, pair, place));
        }
    }
}

/// The first two writes of two nodes that run together, of those that count.
fn meeting(
    writers: &BTreeMap<NodeId, Vec<Write>>,
    mhp: &MayHappenInParallel,
    past: impl Fn(&Write) -> bool,
    counts: impl Fn(&Write, &Write) -> bool,
) -> Option<((NodeId, Write), (NodeId, Write))> {
    let all: ChunkedBitSet = writers.keys().map(|id| id.0).collect();
    let special = writers
        .iter()
        .filter(|(_, writes)| writes.iter().any(&past));
    let special: ChunkedBitSet = special.map(|(id, _)| id.0).collect();
    for (a, own) in writers {
        let partners = mhp.partners(*a);
        // Two that don't count by themselves count by no other.
        let plain = own.iter().all(|write| !counts(write, write));
        let others = if plain { &special } else { &all };
        let both = &*partners & others;
        for b in both.iter().map(NodeId).filter(|b| b >= a) {
            for first in own {
                let of_b = writers.get(&b).into_iter().flatten();
                if let Some(second) = of_b.into_iter().find(|second| counts(first, second)) {
                    return Some(((*a, *first), (b, *second)));
                }
            }
        }
    }
    None
}

/// Writes of a graph that go past a reducer: those of its own `:=`, and those by which a tool or a called graph hands one on,
/// with its place there.
fn replaced(graph: &Graph, handed_on: &[HandedOn]) -> BTreeMap<(FieldId, Span), Option<Span>> {
    let handed = handed_on.iter();
    let handed = handed.map(|by| ((by.field, by.at), Some(by.inside)));
    let items = graph.sets().filter(|item| item.replace);
    let own = items.filter_map(|item| Some(((item.field?, item.name.span), None)));
    handed.chain(own).collect()
}

fn ordered(program: &Program, channel: &Channel) -> bool {
    match channel {
        Channel::AnyLast => true,
        Channel::Own { reducer } => program
            .reducers
            .get(*reducer)
            .is_some_and(|reducer| !commutes(reducer)),
        _ => false,
    }
}

fn report(
    program: &Program,
    graph: &Graph,
    cfg: &ControlFlowGraph,
    mhp: &MayHappenInParallel,
    ((a, first), (b, second)): ((NodeId, Write), (NodeId, Write)),
    (why, place, inside): (Why, Span, Option<Span>),
) -> Diagnostic {
    let field = graph.fields.get(first.field);
    let field = field.map_or("?", |field| &*field.name.node);
    let name = |node: NodeId| cfg.name(BlockId::Node(node)).to_owned();
    let both = match a == b {
        true => format!("tasks of `{}` that run in the same super-step", name(a)),
        false => format!("`{}` and `{}`, in the same super-step,", name(a), name(b)),
    };
    let other = if place == first.span { second } else { first };
    let own = graph
        .fields
        .get(first.field)
        .and_then(|field| match &field.channel {
            Channel::Own { reducer } => program.reducers.get(*reducer),
            _ => None,
        });
    let comes = match a == b {
        true => "the writes come in the order of the tasks",
        false => "the writes come in the order in which the nodes are declared",
    };
    let mut found = match why {
        Why::Reducer if own.is_some() => Diagnostic::new(
            &codes::ORDER_DEPENDENT,
            format!(
                "{both} both write `{field}`, and reducer `{}` may make something else of them in another order",
                own.map_or("?", |reducer| &*reducer.name.node)
            ),
            place,
        )
        .help(format!("{comes}; where that matters, let one run after the other")),
        Why::Reducer => Diagnostic::new(
            &codes::ORDER_DEPENDENT,
            format!("{both} both write `{field}`, whose value depends on which comes last"),
            place,
        )
        .help(format!("{comes}, and the last one counts; give `{field}` a reducer that puts writes together, or let one run after the other")),
        Why::Replaced => Diagnostic::new(
            &codes::REPLACED_BESIDE,
            format!("{both} both write `{field}`, and `:=` drops what was written before it in that step"),
            place,
        )
        .help(format!("write `{field}: ..`, through its reducer, or let one run after the other")),
    };
    if let Some(inside) = inside.filter(|_| why == Why::Replaced) {
        found = found.label(inside, "by this `:=`, which the call hands on");
    }
    if other.span != place {
        found = found.label(other.span, "written here too");
    }
    if let Some(witness) = mhp.witness(a, b) {
        let begin = match witness.first == witness.second {
            true => format!("several tasks of the way `{}` begin here", witness.first),
            false => format!("`{}` and `{}` begin here", witness.first, witness.second),
        };
        found = found.label(witness.fork, begin);
    }
    found
}

/// Whether a reducer surely gives the same with its two parameters exchanged.
fn commutes(reducer: &Reducer) -> bool {
    let (old, new) = (&*reducer.old.name.node, &*reducer.new.name.node);
    let numbers = matches!(reducer.old.ty.node, Type::Int | Type::Float);
    shape(&reducer.body, (old, new), numbers) == shape(&reducer.body, (new, old), numbers)
}

/// The expression as a text, in which the order of operands doesn't show where it doesn't count. `names` are what
/// the first and the second parameter are called.
fn shape(expr: &Expr, names: (&str, &str), numbers: bool) -> String {
    let of = |expr: &Expr| shape(expr, names, numbers);
    let sorted = |mut parts: Vec<String>, by: &str| {
        parts.sort();
        format!("({})", parts.join(by))
    };
    match &expr.kind {
        ExprKind::Ident(name) if **name == *names.0 => "#1".to_owned(),
        ExprKind::Ident(name) if **name == *names.1 => "#2".to_owned(),
        ExprKind::Binary(op, left, right) => {
            let free = match op.node {
                BinaryOp::Add => numbers,
                BinaryOp::Multiply | BinaryOp::Equal | BinaryOp::NotEqual => true,
                _ => false,
            };
            let parts = vec![of(left), of(right)];
            let word = format!(" {:?} ", op.node);
            match free {
                true => sorted(parts, &word),
                false => format!("({})", parts.join(&word)),
            }
        }
        ExprKind::Logical(op, operands) => {
            sorted(operands.iter().map(of).collect(), &format!(" {op:?} "))
        }
        ExprKind::Call {
            target: Some(target),
            function,
            args,
        } => {
            let free = ["max", "min", "sum", "sort", "unique"].contains(&&*function.node);
            let target = match &target.kind {
                ExprKind::List(elements) if free => {
                    sorted(elements.iter().map(|e| of(&e.value)).collect(), ", ")
                }
                _ => of(target),
            };
            let args: Vec<String> = args.iter().map(of).collect();
            format!("{target}.{}({})", function.node, args.join(", "))
        }
        ExprKind::Literal(literal) => format!("{literal:?}"),
        // Anything else counts as different from itself the other way round.
        _ => format!("{}:{}", names.0, expr.span.start),
    }
}
