//! A graph or a node by itself: a copy of its graph that a run may begin with.
//!
//! Of a node alone all other nodes are stubs that do nothing, so that a run shows where the node leads and ends there. Nodes of
//! a caller that a graph leaves for are such stubs too.

use crate::base::IdVec;
use crate::expr::ty::Type;
use crate::ir::graph::Migrate;
use crate::ir::node::{InterruptTimeout, Work};
use crate::ir::{
    Channel, Expr, Field, FieldId, FieldMode, Flow, Graph, GraphId, Jump, Node, NodeId, Place,
    Route, SetItem, Target,
};

/// The field that takes what the work of a node that is run alone gives: no field of a flow is called so.
pub const GIVES: &str = "@gives";

/// What begins the names of stubs for nodes of a caller.
pub const PARENT: &str = "parent.";

/// A copy of a graph at the end of a flow, which leaves for nobody: where it would, it comes to a stub of that name.
pub fn graph(flow: &mut Flow, id: GraphId) -> Option<GraphId> {
    let copy = leaving_nobody(flow.graphs.get(id)?);
    Some(add(flow, copy))
}

fn leaving_nobody(graph: &Graph) -> Graph {
    let mut copy = graph.clone();
    let first = copy.nodes.len();
    let leaves = std::mem::take(&mut copy.leaves);
    for name in &leaves {
        copy.nodes.push(stub(&format!("{PARENT}{name}"), copy.at));
    }
    let ids: Vec<NodeId> = copy.nodes.ids().skip(first).collect();
    let to = |target: &mut Target| {
        if let Target::Parent(name) = target
            && let Some(at) = leaves.iter().position(|leave| leave == name)
            && let Some(stub) = ids.get(at)
        {
            *target = Target::Node(*stub);
        }
    };
    for node in copy.nodes.iter_mut() {
        targets(node, &to);
    }
    route(&mut copy.start, &to);
    for join in copy.joins.iter_mut() {
        jump(&mut join.to, &to);
    }
    copy.migrate = Migrate::default();
    copy
}

/// The same with all nodes but one as stubs, entered at that one. What is sent to it is in fields of their own, by position in
/// the node's `input`.
pub fn node(flow: &mut Flow, id: GraphId, node: NodeId) -> Option<(GraphId, Vec<FieldId>)> {
    let mut copy = leaving_nobody(flow.graphs.get(id)?);
    let mut own = copy.nodes.get(node)?.clone();
    let again = copy.nodes.push(stub(&own.name, own.at));
    let to = |target: &mut Target| match target {
        Target::Node(to) if *to == node => *to = again,
        Target::Each { worker, .. } if *worker == node => *worker = again,
        _ => {}
    };
    targets(&mut own, &to);
    own.joins.clear();
    own.max_visits = None;
    own.defer = false;
    for field in copy.fields.iter_mut() {
        field.mode = FieldMode::Private;
        field.persist = false;
    }
    if let Some(gives) = gives(flow, &own.work) {
        let field = copy.fields.push(field(GIVES, Type::Json, own.at));
        own.set.push(SetItem {
            field,
            replace: false,
            value: expr(gives, own.at),
        });
    }
    let sent: Vec<FieldId> = (own.input.iter())
        .map(|input| {
            let name = sent(&input.name);
            copy.fields.push(field(&name, input.ty.clone(), own.at))
        })
        .collect();
    let nodes = copy.nodes.entries().map(|(id, other)| match id == node {
        true => own.clone(),
        false => Node {
            input: other.input.clone(),
            ..stub(&other.name, other.at)
        },
    });
    copy.nodes = nodes.collect();
    copy.joins = IdVec::new();
    copy.exits.clear();
    copy.start = always(Target::Node(node));
    copy.recursion_limit = None;
    Some((add(flow, copy), sent))
}

/// Name of the field that a value of a send comes in by. It is a name of expressions too.
fn sent(name: &str) -> String {
    format!("sent__{name}")
}

/// Enters a node that is run alone with a send of the inputs that are given.
pub fn send(graph: &mut Graph, node: NodeId, given: &[&str]) {
    let at = graph.at;
    let with = given.iter().map(|name| crate::ir::text::Named {
        name: (*name).to_owned(),
        value: expr(&format!("state.{}", sent(name)), at),
    });
    graph.start = always(Target::Each {
        var: "sent".to_owned(),
        items: expr("[0]", at),
        worker: node,
        with: with.collect(),
        then: Vec::new(),
    });
}

/// Adds a copy as the flow's entry. A thread knows its graph by name, so the name is the copy's alone.
fn add(flow: &mut Flow, graph: Graph) -> GraphId {
    let same = flow
        .graphs
        .iter_mut()
        .find(|known| known.name == graph.name);
    if let Some(same) = same {
        same.name.push('\'');
    }
    let id = flow.graphs.push(graph);
    flow.entry = Some(id);
    id
}

/// What the work of a node gives, as an expression behind it.
fn gives(flow: &Flow, work: &Work) -> Option<&'static str> {
    match work {
        Work::Llm(call) | Work::Agent { call, .. } => Some(match call.output {
            Some(_) => "output",
            None => "reply.text",
        }),
        Work::Tools { .. } => Some("results"),
        Work::Call { tool, .. } => {
            let gives = flow.tools.get(*tool)?.returns.is_some();
            gives.then_some("result")
        }
        Work::Subgraph { .. } => Some("result"),
        Work::Interrupt { .. } => Some("answer"),
        Work::Update | Work::Branch | Work::Extern { .. } => None,
    }
}

fn field(name: &str, ty: Type, at: Place) -> Field {
    Field {
        name: name.to_owned(),
        doc: String::new(),
        ty,
        mode: FieldMode::Private,
        channel: Channel::AnyLast,
        default: None,
        constraints: Default::default(),
        persist: false,
        ephemeral: false,
        untracked: false,
        based_on: None,
        at,
    }
}

fn expr(text: &str, at: Place) -> Expr {
    Expr::new(text.to_owned(), at)
}

fn always(to: Target) -> Route {
    Route::Always(Jump {
        to: vec![to],
        set: Vec::new(),
        emits: Vec::new(),
    })
}

/// A node that does nothing and leads nowhere.
pub fn stub(name: &str, at: Place) -> Node {
    Node {
        name: name.to_owned(),
        doc: String::new(),
        work: Work::Update,
        stops: Vec::new(),
        input: Vec::new(),
        skips: Vec::new(),
        lets: Vec::new(),
        requires: Vec::new(),
        lets_within: Vec::new(),
        lets_behind: Vec::new(),
        set: Vec::new(),
        emits: Vec::new(),
        next: None,
        joins: Vec::new(),
        ends: Vec::new(),
        retry: None,
        timeout_ms: None,
        on_error: None,
        max_visits: None,
        defer: false,
        cache: None,
        narrowed: Vec::new(),
        tags: Vec::new(),
        at,
    }
}

/// Changes every target of a node.
fn targets(node: &mut Node, change: &dyn Fn(&mut Target)) {
    for to in node.next.iter_mut().chain(&mut node.on_error) {
        route(to, change);
    }
    for to in node.skips.iter_mut().filter_map(|skip| skip.to.as_mut()) {
        jump(to, change);
    }
    for end in &mut node.ends {
        target(&mut end.to, change);
    }
    if let Some(visits) = &mut node.max_visits {
        jump(&mut visits.to, change);
    }
    if let Work::Interrupt {
        timeout: Some(InterruptTimeout { to, .. }),
        ..
    } = &mut node.work
    {
        jump(to, change);
    }
}

fn route(route: &mut Route, change: &dyn Fn(&mut Target)) {
    match route {
        Route::Always(to) => jump(to, change),
        Route::Arms(arms) => arms.iter_mut().for_each(|arm| jump(&mut arm.jump, change)),
    }
}

fn jump(jump: &mut Jump, change: &dyn Fn(&mut Target)) {
    jump.to.iter_mut().for_each(|to| target(to, change));
}

fn target(to: &mut Target, change: &dyn Fn(&mut Target)) {
    change(to);
    match to {
        Target::Computed { table, .. } => {
            table.iter_mut().for_each(|end| target(&mut end.to, change));
        }
        Target::Each { then, .. } => then.iter_mut().for_each(|to| target(to, change)),
        _ => {}
    }
}
