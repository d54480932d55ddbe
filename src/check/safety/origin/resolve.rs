//! What a path in scope of a place comes from: a source, a field to go on with, or nothing.

use crate::expr::Type;
use crate::ir::node::CHUNK;
use crate::ir::{GraphId, NodeId};
use crate::resolve::jumps::Maker;
use crate::resolve::program::{Graph, ModelCall, Work};

use super::super::super::cfg::BlockId;
use super::cross::{Source, marked};
use super::env::{Env, env, env_knowing};
use super::facts::facts_of_way;
use super::leaf::{Leaf, leaves, text_leaves, vouched};
use super::made::{EACH, ELEMENT, KEY, is_index};
use super::search::{Inside, Search};
use super::shape::{plainly, shape};
use super::value::made;
use super::vouch::Vetted;

impl<'a> Search<'a> {
    /// As [`Search::resolve`]; what it opens carries the note.
    pub(super) fn resolve_noting(
        &mut self,
        inside: Inside,
        leaf: &Leaf,
        parent: Option<usize>,
        note: Source,
    ) -> Option<Source> {
        let first = self.items.len();
        let hit = self.resolve(inside, leaf, parent);
        for item in self.items.iter_mut().skip(first) {
            if item.parent == parent && item.note.is_none() {
                item.note = Some(note.clone());
            }
        }
        if hit.is_some() {
            self.direct.push(note);
        }
        hit
    }

    /// What a leaf comes from. Fields are opened, to be followed later.
    pub(super) fn resolve(
        &mut self,
        inside: Inside,
        leaf: &Leaf,
        parent: Option<usize>,
    ) -> Option<Source> {
        // A number carries no free text, but a secret is one still.
        if leaf.plain && !self.wanted.secret || self.is_vouched(inside, leaf) {
            return None;
        }
        if leaf.path.root() == "context" {
            return self.context(inside, leaf);
        }
        match inside {
            Inside::Body(graph, node, tool) => self.in_body((graph, node, tool), leaf, parent),
            Inside::Start(graph)
            | Inside::Join(graph, _)
            | Inside::Handler(graph)
            | Inside::End(graph) => match leaf.path.root() {
                "state" => self.state((graph, inside), leaf, parent),
                _ => None,
            },
            Inside::Before(graph, node)
            | Inside::Work(graph, node)
            | Inside::After(graph, node) => match leaf.path.root() {
                "state" => self.state((graph, inside), leaf, parent),
                "input" => self.input(graph, node, leaf, parent),
                "output" | "reply" | "transcript" => self.by_model(graph, node, leaf, parent),
                CHUNK if self.streams(graph, node) => self.by_model(graph, node, leaf, parent),
                "results" => self.by_tools_in_scope(graph, node, parent),
                "result" => self.result(graph, node, leaf, parent),
                name => self.answer((graph, node), name, leaf),
            },
        }
    }

    /// What a type and the marks of its fields say of a value, where they settle it: that it is a source, or that there is
    /// nothing to look for.
    pub(super) fn settled(
        &self,
        ty: &Type,
        path: &[String],
        leaf: &Leaf,
    ) -> Option<Option<Source>> {
        let shape = shape(self.program, ty, path);
        let name = leaf.path.0.last().map_or("", String::as_str);
        let name = match name {
            ELEMENT | EACH | KEY => leaf.path.root(),
            at if is_index(at) => leaf.path.root(),
            name => name,
        };
        if shape.position || self.wanted.guarded && (shape.plain || shape.formed) {
            return Some(None);
        }
        let marks = [&shape.marks, &shape.held].into_iter();
        let mark = marks.filter_map(|marks| self.wanted.mark(marks)).next();
        mark.map(|(span, word)| Some(marked(span, word, name)))
    }

    /// The same for a value that has come from somewhere else: a condition may stand between that and here, so where
    /// conditions count, its marks do where it came in.
    pub(super) fn settled_on_its_way(
        &self,
        ty: &Type,
        path: &[String],
        leaf: &Leaf,
    ) -> Option<Option<Source>> {
        let settled = self.settled(ty, path, leaf);
        settled.filter(|source| source.is_none() || !self.wanted.guarded)
    }

    fn streams(&self, id: GraphId, node: NodeId) -> bool {
        let declared = self.node(id, node);
        declared.is_some_and(|(_, node)| node.stream_as().is_some())
    }

    /// A person's answer is trusted, unless its type has marks.
    fn answer(&self, (id, node): (GraphId, NodeId), name: &str, leaf: &Leaf) -> Option<Source> {
        let (_, node) = self.node(id, node)?;
        let expect = match &node.work {
            Work::Interrupt { expect, .. } if name == "answer" => expect.as_ref(),
            _ => {
                let node = node.stops.iter().find(|node| node.name.node == name)?;
                node.expect.as_ref()
            }
        };
        let rest = leaf.path.0.get(1..).unwrap_or_default();
        self.settled(&expect?.node, rest, leaf).flatten()
    }

    fn state(
        &mut self,
        (id, inside): (GraphId, Inside),
        leaf: &Leaf,
        parent: Option<usize>,
    ) -> Option<Source> {
        let graph = self.program.graphs.get(id)?;
        let (name, rest) = leaf.path.0.get(1..)?.split_first()?;
        let field = graph.field(name)?;
        let declared = graph.fields.get(field)?;
        // A form that holds for each write.
        if self.wanted.guarded && declared.constraints.pattern.is_some() {
            return None;
        }
        if let Some(settled) = self.settled_on_its_way(&declared.ty.node, rest, leaf) {
            return settled;
        }
        if !self.wanted.guarded
            && let Some((span, word)) = self.wanted.mark(&declared.marks)
        {
            return Some(marked(span, word, name));
        }
        let rest = &plainly(self.program, &declared.ty.node, rest)[..];
        let at = (field, rest);
        match inside {
            Inside::Before(_, node) | Inside::Work(_, node) => {
                self.push((id, BlockId::Node(node)), at, parent, None);
            }
            Inside::After(_, node) => return self.behind_set((id, graph), node, at, parent),
            Inside::End(_) => {
                self.push((id, BlockId::End), at, parent, None);
            }
            Inside::Join(_, join) => {
                self.push((id, BlockId::Join(join)), at, parent, None);
            }
            Inside::Handler(_) => {
                for node in graph.served() {
                    self.push((id, BlockId::Node(node)), at, parent, None);
                }
            }
            Inside::Start(_) => return self.at_start((id, field), rest, parent),
            Inside::Body(..) => {
                return self
                    .wanted
                    .mark(&declared.marks)
                    .map(|(span, word)| marked(span, word, name));
            }
        }
        None
    }

    /// A field behind what the node's own `set` wrote.
    fn behind_set(
        &mut self,
        (id, graph): (GraphId, &'a Graph),
        node: NodeId,
        (field, rest): (crate::ir::FieldId, &[String]),
        parent: Option<usize>,
    ) -> Option<Source> {
        let declared = graph.nodes.get(node)?;
        let env = env(&declared.lets);
        for item in declared.set.iter().filter(|item| item.field == Some(field)) {
            let mut made_from = made(&item.value, &env).below(rest).leaves().into_iter();
            let hit = made_from.find_map(|l| self.resolve(Inside::Work(id, node), &l, parent));
            if hit.is_some() {
                return hit;
            }
        }
        self.push((id, BlockId::Node(node)), (field, rest), parent, None);
        None
    }

    /// What was sent to a worker.
    fn input(
        &mut self,
        id: GraphId,
        node: NodeId,
        leaf: &Leaf,
        parent: Option<usize>,
    ) -> Option<Source> {
        let (_, declared) = self.node(id, node)?;
        let (name, rest) = leaf.path.0.get(1..)?.split_first()?;
        let at = (declared.input.iter()).position(|param| param.name.node == *name)?;
        let param = declared.input.get(at)?;
        if let Some(settled) = self.settled_on_its_way(&param.ty.node, rest, leaf) {
            return settled;
        }
        if !self.entered.insert((id, node, at + 1)) {
            return None;
        }
        let sends = self.sends(id)?.sends.get(&node);
        let sent: Vec<_> = sends
            .into_iter()
            .flatten()
            .filter_map(|send| {
                let arg = send.with.iter().find(|arg| arg.name.node == *name)?;
                Some((send.by, send.transition, send.var, send.items, arg))
            })
            .collect();
        let rest = rest.to_vec();
        for (by, transition, var, items, arg) in sent {
            let sender = by.node().and_then(|by| Some((by, self.node(id, by)?)));
            let mut env = match sender {
                Some((_, (_, sender))) => env(&sender.lets),
                None => Default::default(),
            };
            // What is sent stands behind the arm's condition.
            let mut facts = Vetted::new();
            if let (Some((by, (graph, node))), Maker::Node(_, why)) = (sender, by)
                && self.wanted.guarded
            {
                let transition = (why, transition);
                facts = facts_of_way(graph, (by, node), transition, &env);
                facts.extend(self.on_both_sides((id, by), self.guards(node)));
                env = env_knowing(&node.lets, &facts);
            }
            if by == Maker::Start && self.wanted.guarded {
                facts = self.facts_at_start(id, transition);
                env = env.knowing(&facts);
            }
            let elements = made(items, &env).part(ELEMENT, None);
            env.insert(var.node.clone(), elements);
            let made_from = made(&arg.value, &env).below(&rest).leaves();
            let made_from = vouched(made_from, &facts);
            let inside = Inside::jump(id, by);
            for leaf in made_from {
                let note = (leaf.span, format!("sent as `{name}` here"));
                let hit = self.resolve_noting(inside, &leaf, parent, note);
                if hit.is_some() {
                    return hit;
                }
            }
        }
        None
    }

    /// What a model said.
    fn by_model(
        &mut self,
        id: GraphId,
        node: NodeId,
        leaf: &Leaf,
        parent: Option<usize>,
    ) -> Option<Source> {
        let (_, declared) = self.node(id, node)?;
        let (Work::Llm(call) | Work::Agent { call, .. }) = &declared.work else {
            return None;
        };
        if leaf.path.root() == "output" {
            let ty = call.output.as_ref()?;
            let rest = leaf.path.0.get(1..).unwrap_or_default();
            if let Some(settled) = self.settled(&ty.node, rest, leaf) {
                return settled;
            }
        }
        let by_tools = match leaf.path.root() {
            "transcript" => self.by_tools_in_scope(id, node, parent),
            _ => None,
        };
        if by_tools.is_some() {
            return by_tools;
        }
        if self.wanted.model {
            let said = format!("a model writes this in `{}`", declared.name.node);
            return Some((declared.name.span, said));
        }
        if !self.wanted.through_models || !self.entered.insert((id, node, 0)) {
            return None;
        }
        if let Some(source) = self.by_tools_in_scope(id, node, parent) {
            return Some(source);
        }
        for leaf in prompt_leaves(call, &env(&declared.lets)) {
            let note = (
                leaf.span,
                format!("read by the model of `{}`", declared.name.node),
            );
            let hit = self.resolve_noting(Inside::Before(id, node), &leaf, parent, note);
            if hit.is_some() {
                return hit;
            }
        }
        None
    }

    fn result(
        &mut self,
        id: GraphId,
        node: NodeId,
        leaf: &Leaf,
        parent: Option<usize>,
    ) -> Option<Source> {
        let (_, declared) = self.node(id, node)?;
        match &declared.work {
            Work::Call {
                tool: Some(tool), ..
            } => self.call_result((id, node, *tool), leaf, parent),
            Work::Subgraph {
                graph: Some(child),
                name,
                ..
            } => {
                let called = self.program.graphs.get(*child)?;
                let path = leaf.path.0.get(1..).unwrap_or_default();
                let (first, rest) = match path.split_first() {
                    Some((first, rest)) => (Some(first), rest),
                    None => (None, path),
                };
                for (field, given) in called.fields.entries() {
                    let meant = first.is_none_or(|first| *first == given.name.node);
                    if given.mode.is_out() && meant {
                        let note = (name.span, format!("given back by `{}`", called.name.node));
                        self.out_of(*child, field, rest, parent, note);
                    }
                }
                None
            }
            _ => None,
        }
    }
}

/// What the texts that a model is asked with are made from.
pub fn prompt_leaves(call: &ModelCall, env: &Env) -> Vec<Leaf> {
    let texts = [&call.system, &call.prompt];
    let mut all: Vec<Leaf> = texts
        .into_iter()
        .flatten()
        .flat_map(|text| text_leaves(text, env))
        .collect();
    all.extend(
        call.messages
            .iter()
            .flat_map(|messages| leaves(messages, env)),
    );
    all
}
