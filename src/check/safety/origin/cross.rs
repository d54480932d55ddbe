//! One step back: from a place over the ways that lead to it, past what writes the field on them.

use crate::base::Span;
use crate::ir::{FieldId, FieldMode, GraphId, NodeId};
use crate::resolve::program::{Graph, Node, Route, Work};

use super::super::super::cfg::{BlockId, EdgeKind, Transition};
use super::facts::{facts_of_way, jump_of};
use super::graph::block;
use super::leaf::{Leaf, Path};
use super::search::{Inside, Key, Search};
use super::value::made;
use super::vouch::Vetted;
use super::write::Behind;

/// A source: where, and what it is.
pub(super) type Source = (Span, String);

impl<'a> Search<'a> {
    /// Looks at all ways that lead to an open item. A hit comes with the item that it is the source of.
    pub(super) fn cross(&mut self, at: usize) -> Option<(usize, Source)> {
        let key = self.items.get(at)?.key;
        if let Some(node) = self.task_of(key) {
            let hit = self.by_task(at, key, node);
            return hit.map(|source| (at, source));
        }
        let cfg = self.cfgs.get(key.graph)?;
        for edge in cfg.in_edges(block(cfg, key.place)) {
            let (from, index) = (edge.from.and_then(|from| cfg.number(from)), edge.number);
            self.aside(at, key, from);
            if let Some(source) = self.over(at, key, from, index) {
                return Some((at, source));
            }
        }
        None
    }

    fn over(&mut self, at: usize, key: Key, from: Option<usize>, index: usize) -> Option<Source> {
        let (graph, cfg) = (
            self.program.graphs.get(key.graph)?,
            self.cfgs.get(key.graph)?,
        );
        let block = from.map(|number| cfg.block(number));
        match block {
            None => {
                let transition = cfg.start.get(index)?;
                let route = graph.start.iter();
                let jump = route
                    .flat_map(Route::jumps)
                    .find(|j| j.span == transition.span);
                let inside = Inside::Start(key.graph);
                let facts = match self.wanted.guarded {
                    true => self.facts_at_start(key.graph, transition.span),
                    false => Vetted::new(),
                };
                match self.written(at, key, inside, jump.map(|j| &j.set[..]), &facts) {
                    Ok(Behind::There) => {
                        if self.path_is_vouched(inside, &facts, &self.whole(graph, key)) {
                            return None;
                        }
                        let rest = self.rest(key);
                        self.at_start((key.graph, key.field), &rest, Some(at))
                    }
                    Ok(Behind::Gone) => None,
                    Err(source) => Some(source),
                }
            }
            Some(BlockId::Join(id)) => {
                let set = graph.joins.get(id).map(|join| &join.to.set[..]);
                match self.written(at, key, Inside::Join(key.graph, id), set, &Vec::new()) {
                    Ok(Behind::There) => {
                        let rest = self.rest(key);
                        let to = (key.graph, BlockId::Join(id));
                        self.push(to, (key.field, &rest), Some(at), None);
                        None
                    }
                    Ok(Behind::Gone) => None,
                    Err(source) => Some(source),
                }
            }
            Some(BlockId::Node(id)) if cfg.nodes.get(id)?.synthetic.is_some() => {
                let rest = self.rest(key);
                let to = (key.graph, BlockId::Node(id));
                self.push(to, (key.field, &rest), Some(at), None);
                None
            }
            Some(BlockId::Node(id)) => {
                let transition = cfg.transitions(BlockId::Node(id)).get(index)?;
                let goes_on = true;
                self.past(
                    at,
                    key,
                    (id, graph.nodes.get(id)?),
                    graph,
                    (transition, goes_on),
                )
            }
            Some(_) => None,
        }
    }

    /// Past a node that leads on by that way, to what was there before it; else only to what it writes.
    pub(super) fn past(
        &mut self,
        at: usize,
        key: Key,
        (id, node): (NodeId, &'a Node),
        graph: &'a Graph,
        (transition, goes_on): (&Transition, bool),
    ) -> Option<Source> {
        let env = self.lets((key.graph, id));
        let path = self.whole(graph, key);
        let facts = match self.wanted.guarded {
            true => facts_of_way(graph, (id, node), (transition.kind, transition.span), &env),
            false => Vetted::new(),
        };
        let by_way = matches!(transition.kind, EdgeKind::Edge | EdgeKind::Goto);
        let after = match by_way {
            true => Inside::After(key.graph, id),
            false => Inside::Before(key.graph, id),
        };
        let jump = jump_of(graph, node, id, transition);
        match self.written(at, key, after, jump.map(|jump| &jump.set[..]), &facts) {
            Ok(Behind::There) => {}
            Ok(Behind::Gone) => return None,
            Err(source) => return Some(source),
        }
        if goes_on && self.path_is_vouched(after, &facts, &path) {
            return None;
        }
        let own = matches!(
            transition.kind,
            EdgeKind::Edge | EdgeKind::Goto | EdgeKind::Tool | EdgeKind::Child
        );
        let skipped = node.skips.iter().any(|skip| skip.to.is_none());
        if own {
            let mut known = self.on_both_sides((key.graph, id), facts);
            known.extend(self.guards_in(node, &env));
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
            if !skipped && self.path_is_vouched(Inside::Before(key.graph, id), &known, &path) {
                return None;
            }
        }
        if !goes_on {
            return None;
        }
        let rest = self.rest(key);
        let to = (key.graph, BlockId::Node(id));
        self.push(to, (key.field, &rest), Some(at), None);
        None
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
        let callers = self.callers.get(of).cloned().unwrap_or_default();
        let entered = callers.is_empty() || self.program.entry == Some(of);
        let lives_on = match field.mode {
            FieldMode::In => false,
            FieldMode::InOut => entered || self.lasting.contains(&of),
            FieldMode::Out | FieldMode::Private => {
                field.persist.is_some() || self.lasting.contains(&of)
            }
        };
        if lives_on {
            self.earlier((of, at), rest, parent);
        }
        if !field.mode.is_in() {
            return None;
        }
        if entered {
            let mut path = vec![field.name.node.clone()];
            path.extend(rest.iter().cloned());
            let leaf = Leaf::new(Path(path), field.name.span);
            if let Some(source) = self.settled(&field.ty.node, rest, &leaf).flatten() {
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
            let env = self.guarded(node);
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
            for leaf in self.unguarded(node, passed) {
                let inside = Inside::Before(caller, id);
                let hit = self.resolve_noting(inside, &leaf, parent, note.clone());
                if hit.is_some() {
                    return hit;
                }
            }
        }
        None
    }
}

/// A field that is a source by its mark.
pub(super) fn marked(span: Span, word: &str, name: &str) -> Source {
    (span, format!("`{name}` is `@{word}`"))
}
