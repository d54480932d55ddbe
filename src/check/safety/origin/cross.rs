//! One step back: from a place over the ways that lead to it, past what writes the field on them.

use std::rc::Rc;

use crate::ast::expr::Expr;
use crate::base::Span;
use crate::ir::{Channel, FieldId, GraphId, NodeId};
use crate::resolve::program::{Arm, Field, Graph, Jump, Node, Route, SetItem, Work};

use super::super::super::flow::build::called_bodies;
use super::super::super::flow::{Cause, Spot, Way};
use super::super::approval::Says;
use super::graph::asks;
use super::leaf::{Env, Leaf, Path, env, vouched};
use super::made::Made;
use super::resolve::Settled;
use super::search::{Inside, Key, Search};
use super::shape::shape;
use super::value::made;
use super::vouch::{Vetted, guards, vetted};

/// A source: where, and what it is.
pub(super) type Source = (Span, String);

/// Whether what stood in the field before goes on behind a write.
enum Behind {
    Gone,
    There,
}

impl<'a> Search<'a> {
    /// Looks at all ways that lead to an open item. A hit comes with the item that it is the source of.
    pub(super) fn cross(&mut self, at: usize) -> Option<(usize, Source)> {
        let key = self.items.get(at)?.key;
        self.refused = key.refused;
        let ways: Vec<(Option<usize>, usize)> = self.backwards(key.graph)?.into(key.place).to_vec();
        for (from, index) in ways {
            let hit = self.over(at, key, from, index);
            self.refused = key.refused;
            if hit.is_some() {
                return hit.map(|source| (at, source));
            }
        }
        None
    }

    fn over(&mut self, at: usize, key: Key, from: Option<usize>, index: usize) -> Option<Source> {
        let (graph, flow) = (
            self.program.graphs.get(key.graph)?,
            self.flows.get(key.graph)?,
        );
        let spot = from.map(|number| flow.spot(number));
        match spot {
            None => {
                let way = flow.start.get(index)?;
                let route = graph.start.iter();
                let jump = route.flat_map(Route::jumps).find(|j| j.span == way.span);
                let inside = Inside::Start(key.graph);
                let told = match self.wanted.guarded {
                    true => self.told_at_start(key.graph, way.span),
                    false => Vetted::new(),
                };
                if self.is_told(inside, &told, &self.whole(graph, key)) {
                    return None;
                }
                match self.written(at, key, inside, jump.map(|j| &j.set[..]), &told) {
                    Ok(Behind::There) => {
                        let rest = self.rest(key);
                        self.at_start((key.graph, key.field), &rest, Some(at))
                    }
                    Ok(Behind::Gone) => None,
                    Err(source) => Some(source),
                }
            }
            Some(Spot::Join(id)) => {
                let set = graph.joins.get(id).map(|join| &join.to.set[..]);
                match self.written(at, key, Inside::Join(key.graph, id), set, &Vec::new()) {
                    Ok(Behind::There) => {
                        let rest = self.rest(key);
                        let to = (key.graph, Spot::Join(id));
                        self.push(to, (key.field, &rest), Some(at), None);
                        None
                    }
                    Ok(Behind::Gone) => None,
                    Err(source) => Some(source),
                }
            }
            Some(Spot::Node(id)) => {
                let way = flow.ways(Spot::Node(id)).get(index)?;
                self.past(at, key, (id, graph.nodes.get(id)?), graph, way)
            }
            Some(_) => None,
        }
    }

    /// Past a node that leads on by that way.
    fn past(
        &mut self,
        at: usize,
        key: Key,
        (id, node): (NodeId, &'a Node),
        graph: &'a Graph,
        way: &Way,
    ) -> Option<Source> {
        let env = self.lets((key.graph, id));
        let path = self.whole(graph, key);
        let told = match self.wanted.guarded {
            true => told_by_way(graph, (id, node), (way.cause, way.span), &env),
            false => Vetted::new(),
        };
        let by_way = matches!(way.cause, Cause::Edge | Cause::Goto);
        let after = match by_way {
            true => Inside::After(key.graph, id),
            false => Inside::Before(key.graph, id),
        };
        if self.is_told(after, &told, &path) {
            return None;
        }
        // What an interrupt's arm writes stands behind its answer.
        let (agreed, unheeded) = self.agreed(key.graph, node, (way.cause, way.span));
        if agreed && !matches!(node.work, Work::Subgraph { .. }) {
            return None;
        }
        let jump = jump_of(graph, node, id, way);
        if unheeded.is_some() {
            let written = jump.into_iter().flat_map(|jump| &jump.set);
            self.unheeded.extend(written.map(|item| item.name.span));
        }
        match self.written(at, key, after, jump.map(|jump| &jump.set[..]), &told) {
            Ok(Behind::There) => {}
            Ok(Behind::Gone) => return None,
            Err(source) => return Some(source),
        }
        let own = matches!(
            way.cause,
            Cause::Edge | Cause::Goto | Cause::Tool | Cause::Child
        );
        let skipped = node.skips.iter().any(|skip| skip.to.is_none());
        if own {
            if agreed {
                self.by_child(at, key, (id, node), graph);
                return None;
            }
            if self.wanted.guarded && skipped && matches!(node.work, Work::Interrupt { .. }) {
                // Only skipping it leads past the person.
                self.before(at, key, id, None);
                return None;
            }
            let mut known = told;
            if self.wanted.guarded {
                let skips = node.skips.iter().map(|skip| &skip.when);
                known.extend(guards(skips, &node.requires, &env));
            }
            let work = Inside::Work(key.graph, id);
            match self.written(at, key, work, Some(&node.set), &known) {
                Ok(Behind::Gone) if !skipped => return None,
                Ok(_) => {}
                Err(source) => return Some(source),
            }
            if let Some(source) = self.by_tools(at, key, (id, node), graph) {
                return Some(source);
            }
            self.by_child(at, key, (id, node), graph);
            if !skipped && self.is_told(Inside::Before(key.graph, id), &known, &path) {
                return None;
            }
        }
        if way.cause != Cause::Visits && self.agreed_before((key.graph, id)) {
            return None;
        }
        self.before(at, key, id, unheeded);
        None
    }

    /// What is vouched for where a graph begins by that way.
    pub(super) fn told_at_start(&self, id: GraphId, way: Span) -> Vetted {
        let graph = self.program.graphs.get(id);
        match graph.and_then(|graph| graph.start.as_ref()) {
            Some(Route::Arms(arms, _)) => told_by_arm(arms, way, &Env::new()),
            Some(Route::Always(_)) | None => Vetted::new(),
        }
    }

    /// Whether one of these vouches for the path.
    fn is_told(&mut self, inside: Inside, told: &Vetted, path: &Path) -> bool {
        let mut own = told.iter().filter(|vouch| vouch.path.holds(path));
        own.any(|vouch| self.trusts(inside, &vouch.relies))
    }

    /// Whether a person is asked in the node, and has agreed where it takes that way. Where a way is taken because of
    /// a no, what is opened from now on is used in spite of it. Also what is to say of one who is asked in vain.
    pub(super) fn agreed(
        &mut self,
        graph: GraphId,
        node: &'a Node,
        (cause, way): (Cause, Span),
    ) -> (bool, Option<Source>) {
        let Some(persons) = &self.persons else {
            return (false, None);
        };
        let own = matches!(
            cause,
            Cause::Edge | Cause::Goto | Cause::Tool | Cause::Child
        );
        let says = persons.on_way(graph, node, cause, way);
        if own && asks(node, &self.passes) {
            let after = node.stops.iter().find(|stop| stop.after);
            let name = after.map_or(&node.name, |stop| &stop.name);
            // Who is asked in a called graph decides there.
            let calls = matches!(node.work, Work::Subgraph { .. });
            let unheeded = match says {
                Says::Yes | Says::Something => return (true, None),
                Says::Nothing if calls || persons.is_kept(node) => {
                    return (!self.refused, None);
                }
                Says::No => (way, format!("the answer of `{}` is no here", name.node)),
                Says::Nothing => {
                    let text = format!("nothing looks at the answer of `{}`", name.node);
                    (name.span, text)
                }
            };
            self.unheeded.insert(unheeded.0);
            return (false, Some(unheeded));
        }
        let refusing = match says {
            Says::No => Some(way),
            _ if own => persons.refusing_guard(graph, node),
            _ => None,
        };
        let Some(place) = refusing else {
            return (false, None);
        };
        self.refused = true;
        self.unheeded.insert(place);
        (false, Some((place, "the answer is no here".to_owned())))
    }

    fn before(&mut self, at: usize, key: Key, node: NodeId, note: Option<Source>) {
        let rest = self.rest(key);
        let to = (key.graph, Spot::Node(node));
        self.push(to, (key.field, &rest), Some(at), note);
    }

    /// Looks at the values that a `set` writes to the field.
    fn written(
        &mut self,
        at: usize,
        key: Key,
        inside: Inside,
        set: Option<&'a [SetItem]>,
        told: &Vetted,
    ) -> Result<Behind, Source> {
        let graph = self.program.graphs.get(key.graph);
        let Some(field) = graph.and_then(|graph| graph.fields.get(key.field)) else {
            return Ok(Behind::There);
        };
        let items = set.into_iter().flatten();
        let mut behind = Behind::There;
        for item in items.filter(|item| item.field == Some(key.field)) {
            if let Some((span, word)) = self.wanted.mark(&field.marks) {
                return Err(marked(span, word, &field.name.node));
            }
            let env = self.env_of(inside);
            let made_from = self.below(key, &item.value, item.replace, &env);
            let made_from = vouched(made_from, told);
            let note = (
                item.name.span,
                format!("written to `{}` here", field.name.node),
            );
            let mark = self.mark_given(field, &self.rest(key));
            for leaf in made_from {
                if let Some(source) = self.resolve_noting(inside, &leaf, Some(at), note.clone()) {
                    return Err(source);
                }
                let last = leaf.path.0.last();
                if let Some((name, source)) = &mark
                    && last != Some(name)
                    && !self.is_vouched(inside, &leaf)
                {
                    return Err(source.clone());
                }
            }
            if item.replace || overwrites(field) {
                behind = Behind::Gone;
            }
        }
        Ok(behind)
    }

    /// The mark of a record's field that a key names, with the field's name: what is put together of other values is such
    /// a value from there on.
    fn mark_given(&self, field: &Field, rest: &[String]) -> Option<(String, Source)> {
        let name = rest.last().filter(|_| self.wanted.guarded)?;
        let shape = shape(self.program, &field.ty.node, rest);
        let (span, word) = self.wanted.mark(&shape.marks)?;
        Some((name.clone(), marked(span, word, name)))
    }

    /// What the part of a written value is made from that the key asks for. A reducer of one's own makes its own of it.
    fn below(&self, key: Key, value: &Expr, replaces: bool, env: &Env) -> Vec<Leaf> {
        let graph = self.program.graphs.get(key.graph);
        let field = graph.and_then(|graph| graph.fields.get(key.field));
        let reducer = match field.map(|field| &field.channel) {
            Some(Channel::Own { reducer }) if !replaces => self.program.reducers.get(*reducer),
            _ => None,
        };
        let written = made(value, env);
        let kept = match reducer {
            Some(reducer) => {
                let names = [
                    (reducer.old.name.node.clone(), Made::nothing()),
                    (reducer.new.name.node.clone(), written),
                ];
                made(&reducer.body, &Env::from(names)).at(value.span)
            }
            None => written,
        };
        kept.below(&self.rest(key)).leaves()
    }

    pub(super) fn env_of(&mut self, inside: Inside) -> Rc<Env> {
        match inside {
            Inside::Before(graph, node)
            | Inside::Work(graph, node)
            | Inside::After(graph, node) => self.lets((graph, node)),
            Inside::Body(_, _, tool) => {
                let body = self
                    .program
                    .tools
                    .get(tool)
                    .and_then(|tool| tool.body.as_ref());
                Rc::new(body.map_or_else(Env::new, |body| env(&body.lets)))
            }
            Inside::Start(_) | Inside::Join(..) | Inside::Handler(_) | Inside::End(_) => {
                Rc::default()
            }
        }
    }

    /// What bodies of tools write to the field.
    fn by_tools(
        &mut self,
        at: usize,
        key: Key,
        (id, node): (NodeId, &'a Node),
        graph: &'a Graph,
    ) -> Option<Source> {
        if called_bodies(self.program, node).is_empty() {
            return None;
        }
        let name = &graph.fields.get(key.field)?.name.node;
        for used in node.tools() {
            let Some(tool) = self.program.tools.get(used.node) else {
                continue;
            };
            let Some(body) = &tool.body else { continue };
            let env = env(&body.lets);
            let told = match self.wanted.guarded {
                true => guards(std::iter::empty(), &body.requires, &env),
                false => Vetted::new(),
            };
            let own = body.set.iter().map(|item| (&item.field, &item.value));
            let jumps = body.jump_sets().map(|item| (&item.name, &item.value));
            for (field, value) in own.chain(jumps).filter(|(field, _)| field.node == *name) {
                let inside = Inside::Body(key.graph, id, used.node);
                let note = (
                    field.span,
                    format!("written to `{name}` by tool `{}`", tool.name.node),
                );
                let made_from = self.below(key, value, false, &env);
                for leaf in vouched(made_from, &told) {
                    let hit = self.resolve_noting(inside, &leaf, Some(at), note.clone());
                    if hit.is_some() {
                        return hit;
                    }
                }
            }
        }
        None
    }

    /// What a called graph gives back to the field.
    fn by_child(
        &mut self,
        at: usize,
        key: Key,
        (_, node): (NodeId, &'a Node),
        graph: &'a Graph,
    ) -> Option<()> {
        let Work::Subgraph {
            graph: Some(child),
            into,
            name,
            ..
        } = &node.work
        else {
            return None;
        };
        let field = graph.fields.get(key.field)?;
        let called = self.program.graphs.get(*child)?;
        let rest = self.rest(key);
        for (inner, given) in called.fields.entries().filter(|(_, f)| f.mode.is_out()) {
            let mut bound = into.iter().filter(|binding| binding.from == Some(inner));
            let by_name = into.iter().all(|binding| binding.from != Some(inner))
                && given.name.node == field.name.node;
            if by_name || bound.any(|binding| binding.to == Some(key.field)) {
                let note = (name.span, format!("given back by `{}`", called.name.node));
                self.out_of(*child, inner, &rest, Some(at), note);
            }
        }
        Some(())
    }

    /// Opens an `out` field of a called graph, as it is where that ends or leaves.
    pub(super) fn out_of(
        &mut self,
        child: GraphId,
        field: crate::ir::FieldId,
        rest: &[String],
        parent: Option<usize>,
        note: Source,
    ) {
        for spot in [Spot::End, Spot::Leave] {
            self.push((child, spot), (field, rest), parent, Some(note.clone()));
        }
    }

    /// The field as its graph begins: its mark, or what a caller passes in.
    pub(super) fn at_start(
        &mut self,
        (of, at): (GraphId, FieldId),
        rest: &[String],
        parent: Option<usize>,
    ) -> Option<Source> {
        let graph = self.program.graphs.get(of)?;
        let field = graph.fields.get(at)?;
        if let Some((span, word)) = self.wanted.mark(&field.marks) {
            return Some(marked(span, word, &field.name.node));
        }
        if !field.mode.is_in() {
            return None;
        }
        let callers = self.callers.get(of).cloned().unwrap_or_default();
        if callers.is_empty() || self.program.entry == Some(of) {
            let mut path = vec![field.name.node.clone()];
            path.extend(rest.iter().cloned());
            let leaf = Leaf::new(Path(path), field.name.span);
            let settled = self.settled(&field.ty.node, rest, &leaf);
            if let Settled::Marked(source) | Settled::Holds(source) = settled {
                return Some(source);
            }
        }
        for (caller, id) in callers {
            let Some((outer, node)) = self.node(caller, id) else {
                continue;
            };
            let Work::Subgraph { with, name, .. } = &node.work else {
                continue;
            };
            let given = with.iter().find(|pass| pass.to == Some(at));
            let env = env(&node.lets);
            let note = (
                given.map_or(name.span, |pass| pass.name.span),
                format!("passed to `{}` here", graph.name.node),
            );
            let passed = match given {
                Some(pass) => made(&pass.value, &env).below(rest).leaves(),
                None if outer.field(&field.name.node).is_some() => {
                    let mut path = vec!["state".to_owned(), field.name.node.clone()];
                    path.extend(rest.iter().cloned());
                    vec![Leaf::new(Path(path), name.span)]
                }
                None => Vec::new(),
            };
            for leaf in self.unguarded(node, passed, &env) {
                let inside = Inside::Before(caller, id);
                let hit = self.resolve_noting(inside, &leaf, parent, note.clone());
                if hit.is_some() {
                    return hit;
                }
            }
        }
        None
    }

    /// As [`Search::unguarded`], for a node by its id.
    pub fn node_leaves(
        &self,
        (graph, node): (GraphId, NodeId),
        leaves: Vec<Leaf>,
        env: &Env,
    ) -> Vec<Leaf> {
        match self.node(graph, node) {
            Some((_, node)) => self.unguarded(node, leaves, env),
            None => leaves,
        }
    }

    /// The leaves, with what the node's own guards vouch for.
    pub fn unguarded(&self, node: &Node, leaves: Vec<Leaf>, env: &Env) -> Vec<Leaf> {
        if !self.wanted.guarded {
            return leaves;
        }
        let skips = node.skips.iter().map(|skip| &skip.when);
        vouched(leaves, &guards(skips, &node.requires, env))
    }
}

/// A field that is a source by its mark.
pub(super) fn marked(span: Span, word: &str, name: &str) -> Source {
    (span, format!("`{name}` is `@{word}`"))
}

fn overwrites(field: &Field) -> bool {
    matches!(field.channel, Channel::Last | Channel::AnyLast)
}

/// The jump that a way of a node is made from.
fn jump_of<'a>(graph: &'a Graph, node: &'a Node, id: NodeId, way: &Way) -> Option<&'a Jump> {
    let handler = graph.inherited_by(id).into_iter().flat_map(Route::jumps);
    let mut all = node.jumps().map(|(_, jump)| jump).chain(handler);
    match way.cause {
        Cause::Tool | Cause::Child => None,
        _ => all.find(|jump| jump.span == way.span),
    }
}

/// What is vouched for where a node takes a way: its arm, or the `skip`.
pub(super) fn told_by_way(
    graph: &Graph,
    (id, node): (NodeId, &Node),
    (cause, way): (Cause, Span),
    env: &Env,
) -> Vetted {
    let arms = |route: &Route| match route {
        Route::Arms(arms, _) => told_by_arm(arms, way, env),
        Route::Always(_) => Vetted::new(),
    };
    match cause {
        Cause::Goto => node
            .goto
            .as_ref()
            .map_or_else(Vetted::new, |goto| arms(&goto.node)),
        Cause::Error => graph.on_error_of(id).map_or_else(Vetted::new, arms),
        Cause::Skip => {
            let own = node
                .skips
                .iter()
                .find(|skip| skip.to.as_ref().is_some_and(|to| to.span == way));
            own.map_or_else(Vetted::new, |skip| vetted(&skip.when, true, env))
        }
        _ => Vetted::new(),
    }
}

fn told_by_arm(arms: &[Arm], span: Span, env: &Env) -> Vetted {
    let Some(at) = arms.iter().position(|arm| arm.jump.span == span) else {
        return Vetted::new();
    };
    let Some(arm) = arms.get(at) else {
        return Vetted::new();
    };
    // It is taken only where none before it was.
    let before = arms.get(..at).unwrap_or_default();
    let before = before.iter().filter_map(|arm| arm.when.as_ref());
    let own = arm.when.iter().flat_map(|when| vetted(when, true, env));
    own.chain(before.flat_map(|when| vetted(when, false, env)))
        .collect()
}
