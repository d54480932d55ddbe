//! What is written to a field on a way: by `set`s, by tools, by called graphs.

use std::rc::Rc;

use crate::ast::expr::Expr;
use crate::ir::{Channel, GraphId, NodeId};
use crate::resolve::program::{Field, Graph, Node, SetItem, Work};

use super::super::super::cfg::BlockId;
use super::super::super::cfg::build::called_bodies;
use super::cross::{Source, marked};
use super::env::{Env, env, env_knowing};
use super::leaf::{Leaf, vouched};
use super::made::Made;
use super::search::{Inside, Key, Search};
use super::shape::shape;
use super::value::made;
use super::vouch::{Vetted, guards};

/// Whether what stood in the field before goes on behind a write.
pub(super) enum Behind {
    Gone,
    There,
}

impl<'a> Search<'a> {
    /// Looks at the values that a `set` writes to the field.
    pub(super) fn written(
        &mut self,
        at: usize,
        key: Key,
        inside: Inside,
        set: Option<&'a [SetItem]>,
        facts: &Vetted,
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
            let env = self.env_of(inside, facts);
            let made_from = self.below(key, &item.value, item.replace, &env);
            let made_from = vouched(made_from, facts);
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

    fn env_of(&mut self, inside: Inside, facts: &Vetted) -> Rc<Env> {
        match inside {
            Inside::Before(graph, node)
            | Inside::Work(graph, node)
            | Inside::After(graph, node) => self.lets_knowing((graph, node), facts),
            Inside::Body(_, _, tool) => {
                let body = self
                    .program
                    .tools
                    .get(tool)
                    .and_then(|tool| tool.body.as_ref());
                Rc::new(body.map_or_else(Env::new, |body| env(&body.lets)))
            }
            Inside::Start(_) | Inside::Join(..) | Inside::Handler(_) | Inside::End(_) => {
                Rc::new(Env::new().knowing(facts))
            }
        }
    }

    /// What bodies of tools write to the field.
    pub(super) fn by_tools(
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
            let facts = match self.wanted.guarded {
                true => guards(std::iter::empty(), &body.requires, &env(&body.lets)),
                false => Vetted::new(),
            };
            let env = env_knowing(&body.lets, &facts);
            for item in body.writes().filter(|item| item.name.node == *name) {
                let (field, value) = (&item.name, &item.value);
                let inside = Inside::Body(key.graph, id, used.node);
                let note = (
                    field.span,
                    format!("written to `{name}` by tool `{}`", tool.name.node),
                );
                let made_from = self.below(key, value, false, &env);
                for leaf in vouched(made_from, &facts) {
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
    pub(super) fn by_child(
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
        for block in [BlockId::End, BlockId::Leave] {
            self.push((child, block), (field, rest), parent, Some(note.clone()));
        }
    }
}

fn overwrites(field: &Field) -> bool {
    matches!(field.channel, Channel::Last | Channel::AnyLast)
}
