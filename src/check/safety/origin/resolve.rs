//! What a path in scope of a place comes from: a source, a field to go on with, or nothing.

use crate::expr::Type;
use crate::ir::{GraphId, NodeId, ToolId};
use crate::resolve::program::{Graph, ModelCall, Node, Tool, Work};

use super::super::super::flow::Spot;
use super::cross::{Source, marked, told_by_way};
use super::leaf::{Leaf, env, leaves, text_leaves, without};
use super::search::{Inside, Search};
use super::shape::shape;

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
        if leaf.path.root() == "context" {
            return self.context(inside, leaf);
        }
        match inside {
            Inside::Body(graph, node, tool) => self.in_body((graph, node, tool), leaf, parent),
            Inside::Start(graph) | Inside::End(graph) => self.state((graph, inside), leaf, parent),
            Inside::Before(graph, node)
            | Inside::Work(graph, node)
            | Inside::After(graph, node) => match leaf.path.root() {
                "state" => self.state((graph, inside), leaf, parent),
                "input" => self.input(graph, node, leaf, parent),
                "output" | "reply" | "transcript" => self.by_model(graph, node, leaf, parent),
                "results" => self.by_tools_in_scope(graph, node),
                "result" => self.result(graph, node, leaf, parent),
                _ => None,
            },
        }
    }

    /// Whether the type and its marks settle it: a source, or (`Err`) nothing to look for.
    pub(super) fn settled(
        &self,
        ty: &Type,
        path: &[String],
        leaf: &Leaf,
    ) -> Result<Option<Source>, ()> {
        let shape = shape(self.program, ty, path);
        if let Some((span, word)) = self.wanted.mark(&shape.marks) {
            let name = leaf.path.0.last().map_or("", String::as_str);
            let name = match name {
                "*" => leaf.path.root(),
                name => name,
            };
            return Ok(Some(marked(span, word, name)));
        }
        let harmless = self.wanted.guarded && (shape.plain || shape.formed);
        match harmless {
            true => Err(()),
            false => Ok(None),
        }
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
        match self.settled(&declared.ty.node, rest, leaf) {
            Ok(Some(source)) => return Some(source),
            Ok(None) => {}
            Err(()) => return None,
        }
        if !self.wanted.guarded
            && let Some((span, word)) = self.wanted.mark(&declared.marks)
        {
            return Some(marked(span, word, name));
        }
        let at = (field, rest);
        match inside {
            Inside::Before(_, node) | Inside::Work(_, node) => {
                self.push((id, Spot::Node(node)), at, parent, None);
            }
            Inside::After(_, node) => return self.behind_set((id, graph), node, at, parent),
            Inside::End(_) => {
                self.push((id, Spot::End), at, parent, None);
            }
            Inside::Start(_) | Inside::Body(..) => {
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
            for leaf in leaves(&item.value, &env) {
                let hit = self.resolve(Inside::Work(id, node), &leaf, parent);
                if hit.is_some() {
                    return hit;
                }
            }
        }
        self.push((id, Spot::Node(node)), (field, rest), parent, None);
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
        match self.settled(&param.ty.node, rest, leaf) {
            Ok(Some(source)) => return Some(source),
            Ok(None) => {}
            Err(()) => return None,
        }
        if !self.entered.insert((id, node, at + 1)) {
            return None;
        }
        let sends = self.backwards(id)?.sends.get(&node);
        let sent: Vec<_> = sends
            .into_iter()
            .flatten()
            .filter_map(|send| {
                let arg = send.with.iter().find(|arg| arg.name.node == *name)?;
                Some((send.by, (send.cause, send.way), send.var, send.items, arg))
            })
            .collect();
        let refused = self.refused;
        for (by, way, var, items, arg) in sent {
            self.refused = refused;
            let sender = by.and_then(|by| Some((by, self.node(id, by)?)));
            let mut env = match sender {
                Some((_, (_, sender))) => env(&sender.lets),
                None => Default::default(),
            };
            // What is sent stands behind the arm's condition, and behind the answer of an interrupt.
            let mut told = Vec::new();
            let mut unheeded = false;
            if let Some((by, (graph, node))) = sender.filter(|_| self.wanted.guarded) {
                let (agreed, in_vain) = self.agreed(id, node, way);
                if agreed {
                    continue;
                }
                unheeded = in_vain.is_some();
                told = told_by_way(graph, (by, node), way, &env);
            }
            let mut elements = leaves(items, &env);
            for element in &mut elements {
                element.path.0.push("*".to_owned());
            }
            env.insert(var.node.clone(), elements);
            let made_from = without(leaves(&arg.value, &env), &told);
            let (inside, made_from) = match sender {
                Some((by, (_, node))) => {
                    let made_from = self.unguarded(node, made_from, &env);
                    (Inside::After(id, by), made_from)
                }
                None => (Inside::Start(id), made_from),
            };
            for leaf in made_from {
                let note = (leaf.span, format!("sent as `{name}` here"));
                if unheeded {
                    self.unheeded.insert(leaf.span);
                }
                let hit = self.resolve_noting(inside, &leaf, parent, note);
                if hit.is_some() {
                    return hit;
                }
            }
        }
        self.refused = refused;
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
            match self.settled(&ty.node, rest, leaf) {
                Ok(Some(source)) => return Some(source),
                Ok(None) => {}
                Err(()) => return None,
            }
        }
        let by_tools = match leaf.path.root() {
            "transcript" => self.by_tools_in_scope(id, node),
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
        if let Some(source) = self.by_tools_in_scope(id, node) {
            return Some(source);
        }
        for leaf in prompt_leaves(declared, call) {
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

    /// Results of the tools that an agent or a `tools` node may call.
    fn by_tools_in_scope(&self, id: GraphId, node: NodeId) -> Option<Source> {
        let (_, declared) = self.node(id, node)?;
        if matches!(declared.work, Work::Llm(_)) {
            return None;
        }
        declared.tools().into_iter().find_map(|used| {
            let tool = self.program.tools.get(used.node)?;
            self.result_mark(tool)
        })
    }

    /// The mark of a tool's result that is looked for.
    pub fn result_mark(&self, tool: &Tool) -> Option<Source> {
        let held = tool
            .returns
            .as_ref()
            .map(|ty| shape(self.program, &ty.node, &[]).marks);
        let (span, word) = self
            .wanted
            .mark(&tool.marks)
            .or_else(|| self.wanted.mark(&held?))?;
        Some((
            span,
            format!("what tool `{}` gives back is `@{word}`", tool.name.node),
        ))
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

    fn call_result(
        &mut self,
        (id, node, tool): (GraphId, NodeId, ToolId),
        leaf: &Leaf,
        parent: Option<usize>,
    ) -> Option<Source> {
        let declared = self.program.tools.get(tool)?;
        let path = leaf.path.0.get(1..).unwrap_or_default();
        if let Some(ty) = &declared.returns {
            match self.settled(&ty.node, path, leaf) {
                Ok(Some(source)) => return Some(source),
                Ok(None) => {}
                Err(()) => return None,
            }
        }
        if let Some((span, word)) = self.wanted.mark(&declared.marks) {
            let said = format!("what tool `{}` gives back is `@{word}`", declared.name.node);
            return Some((span, said));
        }
        let body = declared.body.as_ref()?;
        let value = body.returns.as_ref()?;
        for leaf in leaves(value, &env(&body.lets)) {
            let hit = self.resolve(Inside::Body(id, node, tool), &leaf, parent);
            if hit.is_some() {
                return hit;
            }
        }
        None
    }

    /// A name in the body of a tool: a parameter, or a field that it reads.
    fn in_body(
        &mut self,
        (id, node, tool): (GraphId, NodeId, ToolId),
        leaf: &Leaf,
        parent: Option<usize>,
    ) -> Option<Source> {
        let declared = self.program.tools.get(tool)?;
        let (name, rest) = leaf.path.0.split_first()?;
        let body = declared.body.as_ref()?;
        if body.reads.iter().any(|read| read.name.node == *name) {
            let mut path = vec!["state".to_owned(), name.clone()];
            path.extend(rest.iter().cloned());
            let read = Leaf {
                path: super::leaf::Path(path),
                span: leaf.span,
            };
            return self.resolve(Inside::Before(id, node), &read, parent);
        }
        let param = declared
            .params
            .iter()
            .find(|param| param.name.node == *name)?;
        match self.settled(&param.ty.node, rest, leaf) {
            Ok(Some(source)) => return Some(source),
            Ok(None) => {}
            Err(()) => return None,
        }
        if self.wanted.guarded && param.constraints.pattern.is_some() {
            return None;
        }
        let (_, calling) = self.node(id, node)?;
        match &calling.work {
            Work::Call { args, .. } => {
                let arg = args.iter().find(|arg| arg.name.node == *name)?;
                let lets = env(&calling.lets);
                let made_from = self.unguarded(calling, leaves(&arg.value, &lets), &lets);
                for leaf in made_from {
                    let hit = self.resolve(Inside::Before(id, node), &leaf, parent);
                    if hit.is_some() {
                        return hit;
                    }
                }
                None
            }
            Work::Agent { .. } | Work::Tools { .. }
                if self.wanted.model && declared.approve.is_none() =>
            {
                let said = format!(
                    "a model chooses `{name}` of tool `{}` in `{}`",
                    declared.name.node, calling.name.node
                );
                Some((param.name.span, said))
            }
            _ => None,
        }
    }
}

/// What the texts that a model is asked with are made from.
pub fn prompt_leaves(node: &Node, call: &ModelCall) -> Vec<Leaf> {
    let env = env(&node.lets);
    let texts = [&call.system, &call.prompt];
    let mut all: Vec<Leaf> = texts
        .into_iter()
        .flatten()
        .flat_map(|text| text_leaves(text, &env))
        .collect();
    all.extend(
        call.messages
            .iter()
            .flat_map(|messages| leaves(messages, &env)),
    );
    all
}
