//! Nodes: what all kinds have. Each kind's own properties are in `model` and `call`.

use thin_vec::ThinVec;

use crate::ast::item::Let;
use crate::ast::node::{End as WrittenEnd, Kind, Node as Written};
use crate::base::Spanned;
use crate::diag::{Diagnostic, codes};
use crate::ir::Retry;

use super::super::Resolver;
use super::super::names::Seen;
use super::super::node::{Cache, End, Ends, MaxVisits, Node, Own, Skip, Work};
use super::super::preparation;
use super::super::target::{Jump, Route, Target, TargetKind};
use super::Inside;
use super::property::{Properties, all, one, placed};

impl Resolver<'_> {
    /// A node. Edge statements are added later.
    pub(super) fn node(&mut self, inside: &Inside, node: &Written) -> Node {
        let file = inside.file;
        let of = self.properties(inside, node);
        let input = one!(of, Input).map(|fields| self.params(file, fields, "field", false));
        let input = input.unwrap_or_default();
        let input_record = (!input.is_empty()).then(|| {
            let fields = self.record_fields(&input);
            let name = format!("input of {}.{}", inside.name, node.name.node);
            self.synthetic(&name, fields)
        });
        let skips = self.skips(&of);
        let (lets, let_twice) = self.lets(&of);
        let work = self.work(&of);
        let mut made = Node {
            name: node.name.clone(),
            doc: node.doc.clone(),
            kind_span: node.kind_span,
            body: node.properties.first().map(|first| first.keyword.before()),
            stops: ThinVec::new(),
            input: input.into(),
            input_record,
            skips,
            lets,
            lets_ahead: 0,
            lets_within: 0..0,
            lets_behind: 0,
            let_twice,
            requires: all!(of, Require).map(|r| self.require(file, r)).collect(),
            set: one!(of, Set).map_or_else(ThinVec::new, |set| self.set(inside, set)),
            emits: all!(of, Emit).map(|e| self.emit(file, e)).collect(),
            edges: self.head_edge(inside, node),
            goto: self.goto(&of).map(Box::new),
            joins: ThinVec::new(),
            ends: self.ends(&of).map(Box::new),
            retry: self.node_retry(&of, &work).map(Box::new),
            timeout_ms: self.node_timeout(&of, &work).map(Box::new),
            on_error: one!(of, OnError).map(|jumps| Box::new(self.route(inside, jumps))),
            max_visits: self.max_visits(&of).map(Box::new),
            defer: placed!(of, Defer {} => ()).is_some(),
            cache: placed!(of, Cache { key, ttl } => (key, ttl)).map(|((key, ttl), property)| {
                Box::new(Cache {
                    key: key.as_ref().map(|key| self.expr(file, key)),
                    ttl_ms: ttl.and_then(|ttl| self.duration("`ttl`", ttl)),
                    span: property.span,
                })
            }),
            tags: (one!(of, Tags)
                .into_iter()
                .flatten()
                .map(|name| name.node.clone()))
            .collect(),
            work,
            span: node.span,
        };
        preparation::of_node(&mut made);
        made
    }

    fn skips(&mut self, of: &Properties) -> ThinVec<Skip> {
        let written = of.all(|property| match &property.kind {
            crate::ast::node::PropertyKind::Skip { condition, to } => {
                Some((condition, to.as_ref()))
            }
            _ => None,
        });
        let skips = written.map(|(condition, to)| Skip {
            when: self.expr(of.inside.file, condition),
            to: to.map(|jump| self.jump(of.inside, jump)),
            span: to.map_or(condition.span, |jump| condition.span.to(jump.span)),
        });
        skips.collect()
    }

    /// Its `let`s, each name once, and whether there was a second one of a name.
    fn lets(&mut self, of: &Properties) -> (ThinVec<Let>, bool) {
        let mut again = false;
        let mut seen = Seen::default();
        let mut lets = ThinVec::new();
        for bound in all!(of, Let) {
            self.check_local_name(&bound.name);
            match self.once(&mut seen, "name", &bound.name) {
                true => lets.push(self.bound(of.inside.file, bound)),
                false => again = true,
            }
        }
        (lets, again)
    }

    fn head_edge(&mut self, inside: &Inside, node: &Written) -> ThinVec<Jump> {
        let edge = node.edge.iter().map(|target| Jump {
            to: self.targets(inside.into(), target),
            set: ThinVec::new(),
            emits: ThinVec::new(),
            span: target.span,
        });
        edge.collect()
    }

    fn goto(&mut self, of: &Properties) -> Option<Spanned<Route>> {
        if let Some((jumps, property)) = placed!(of, Goto(jumps) => jumps) {
            let route = self.route(of.inside, jumps);
            return Some(Spanned::new(route, property.keyword));
        }
        if matches!(of.node.kind, Kind::Branch) {
            let message = format!("branch `{}` has no `goto`", of.node.name.node);
            self.missing(of, message, "write `goto { when .. -> a  else -> b }`");
        }
        None
    }

    fn ends(&mut self, of: &Properties) -> Option<Ends> {
        let (written, property) = placed!(of, Ends(written) => written)?;
        let mut items: Vec<End> = Vec::new();
        let mut seen = Seen::default();
        for end in written {
            if self.once(&mut seen, "name", &end.name) {
                items.push(self.end(of.inside, end));
            }
        }
        let span = property.span;
        Some(Ends { items, span })
    }

    fn end(&mut self, inside: &Inside, end: &WrittenEnd) -> End {
        let own = end.alias.as_ref().unwrap_or(&end.name);
        let kind = if end.parent {
            if let Some(alias) = &end.alias {
                let message = "a jump that is passed on upward keeps its name".to_owned();
                self.bad_value(message, alias.span);
            }
            TargetKind::Parent(end.name.clone())
        } else if own.node == "end" {
            TargetKind::End
        } else if let Some(found) = self.swapped_end(inside, end) {
            self.diags.push(found);
            TargetKind::Unknown
        } else {
            // What a misspelt entry was meant for may be what is lacking: it counts as none.
            match self.node_named(inside, own) {
                Some(node) if inside.nodes.contains_key(&own.node) => TargetKind::Node(node),
                _ => TargetKind::Unknown,
            }
        };
        let span = own.span;
        End {
            name: end.name.clone(),
            to: Target { kind, span },
        }
    }

    /// `ends [again as redo]` for `ends [redo as again]`, and `fail`, which is no place to go to.
    fn swapped_end(&self, inside: &Inside, end: &WrittenEnd) -> Option<Diagnostic> {
        let own = end.alias.as_ref().unwrap_or(&end.name);
        if inside.nodes.contains_key(&own.node) {
            return None;
        }
        let name = &end.name;
        let new = |message: String| Diagnostic::new(&codes::UNKNOWN_TARGET, message, own.span);
        if own.node == "fail" {
            return Some(
                new("`fail` is no end: what fails goes to `on_error`".to_owned())
                    .help("take it out: a jump to `fail` needs no entry"),
            );
        }
        (end.alias.is_some() && inside.nodes.contains_key(&name.node)).then(|| {
            let written = format!("{own} as {name}", own = own.node, name = name.node);
            new(format!(
                "`{}` has no node `{}`, but `{}` is one: the two are swapped",
                inside.name, own.node, name.node
            ))
            .help(format!("write `{written}`"))
            .fix(name.span.to(own.span), written)
        })
    }

    fn node_retry(&mut self, of: &Properties, work: &Work) -> Option<Own<Retry>> {
        let Some((spec, property)) = placed!(of, Retry(spec) => spec) else {
            let default = self.program.graphs[of.inside.graph].retry.clone();
            return Own::of_graph(default.filter(|_| has_effect(work)));
        };
        let value = self.retry(of.inside.file, spec)?;
        let at = Some(property.span);
        Some(Own { value, at })
    }

    fn node_timeout(&mut self, of: &Properties, work: &Work) -> Option<Own<u64>> {
        if matches!(work, Work::Interrupt { .. }) {
            return None;
        }
        let own = placed!(of, Timeout { after, to } => (*after, to));
        let Some(((after, to), property)) = own else {
            let default = self.program.graphs[of.inside.graph].timeout_ms;
            return Own::of_graph(default.filter(|_| has_effect(work)));
        };
        if let Some(to) = to {
            let message = "only the `timeout` of an `interrupt` has a target";
            let found = Diagnostic::new(&codes::PROPERTY_NOT_ALLOWED, message, to.span);
            let help = "write `on_error { when error.kind == \"timeout\" -> .. }`";
            self.diags.push(found.help(help));
        }
        let value = self.duration("`timeout`", after)?;
        let at = Some(property.span);
        Some(Own { value, at })
    }

    fn max_visits(&mut self, of: &Properties) -> Option<MaxVisits> {
        let ((limit, to), property) = placed!(of, MaxVisits { limit, to } => (limit, to))?;
        let limit = self.count(of.inside, "`max_visits`", limit);
        let to = self.jump(of.inside, to);
        Some(MaxVisits {
            limit: limit.number.unwrap_or(1),
            limit_by: limit.by,
            to,
            span: property.span,
        })
    }
}

/// Whether a node calls a model or a tool itself: those take a graph's `retry` and `timeout`. A
/// `subgraph` does not, so that nothing is tried again twice over.
fn has_effect(work: &Work) -> bool {
    matches!(
        work,
        Work::Llm(_)
            | Work::Agent { .. }
            | Work::Tools { .. }
            | Work::Call { .. }
            | Work::Extern { .. }
    )
}
