//! Nodes: what all kinds have. Each kind's own properties are in `model` and `call`.

use std::collections::BTreeMap;

use thin_vec::ThinVec;

use crate::ast::Name;
use crate::ast::node::{Kind, Node as Written, PropertyKind};
use crate::base::{Span, Spanned};
use crate::ir::Retry;

use super::super::Resolver;
use super::super::node::{Cache, End, Ends, MaxVisits, Node, Own, Skip, Work};
use super::super::preparation;
use super::super::program::Param;
use super::super::target::{Jump, Target, TargetKind};
use super::Inside;
use super::property::Properties;

impl Resolver<'_> {
    /// A node. Edge statements are added later.
    pub(super) fn node(&mut self, inside: &Inside, node: &Written) -> Node {
        let file = inside.file;
        let properties = self.properties(node);
        let input = self.node_input(inside, &properties);
        let input_record = (!input.is_empty()).then(|| {
            let fields = self.record_fields(&input);
            self.synthetic(
                &format!("input of {}.{}", inside.name, node.name.node),
                fields,
            )
        });
        let skips = self.skips(inside, &properties);
        let (lets, let_twice) = self.lets(inside, &properties);
        let requires = properties.all(|kind| match kind {
            PropertyKind::Require(require) => Some(&**require),
            _ => None,
        });
        let emits = properties.all(|kind| match kind {
            PropertyKind::Emit(emit) => Some(&**emit),
            _ => None,
        });
        let work = self.work(inside, node, &properties);
        let set = properties.one(|kind| match kind {
            PropertyKind::Set(set) => Some(set),
            _ => None,
        });
        let mut made = Node {
            name: node.name.clone(),
            doc: node.doc.clone(),
            kind_span: node.kind_span,
            body: node.properties.first().map(|first| first.keyword.before()),
            stops: ThinVec::new(),
            input,
            input_record,
            skips,
            lets,
            lets_ahead: 0,
            lets_within: 0..0,
            lets_behind: 0,
            let_twice,
            requires: requires
                .into_iter()
                .map(|r| self.require(file, r))
                .collect(),
            set: set.map(|set| self.set(inside, set)).unwrap_or_default(),
            emits: emits.into_iter().map(|e| self.emit(file, e)).collect(),
            edges: self.head_edge(inside, node),
            goto: self.goto(inside, node, &properties).map(Box::new),
            joins: ThinVec::new(),
            ends: self.ends(inside, &properties).map(Box::new),
            retry: self.node_retry(inside, &work, &properties).map(Box::new),
            timeout_ms: self.node_timeout(inside, &work, &properties).map(Box::new),
            on_error: self.on_error(inside, &properties).map(Box::new),
            max_visits: self.max_visits(inside, &properties).map(Box::new),
            defer: properties
                .whole(|kind| matches!(kind, PropertyKind::Defer))
                .is_some(),
            cache: self.cache(inside, &properties).map(Box::new),
            tags: tags(&properties),
            work,
            span: node.span,
        };
        preparation::of_node(&mut made);
        made
    }

    fn node_input(&mut self, inside: &Inside, properties: &Properties) -> ThinVec<Param> {
        let fields = properties.one(|kind| match kind {
            PropertyKind::Input(fields) => Some(fields),
            _ => None,
        });
        fields
            .map(|fields| self.params(inside.file, fields, "field", false).into())
            .unwrap_or_default()
    }

    fn skips(&mut self, inside: &Inside, properties: &Properties) -> ThinVec<Skip> {
        let written = properties.all(|kind| match kind {
            PropertyKind::Skip { condition, to } => Some((condition, to)),
            _ => None,
        });
        written
            .into_iter()
            .map(|(condition, to)| Skip {
                when: self.expr(inside.file, condition),
                to: to.as_ref().map(|jump| self.jump(inside, jump)),
                span: to
                    .as_ref()
                    .map_or(condition.span, |jump| condition.span.to(jump.span)),
            })
            .collect()
    }

    fn lets(
        &mut self,
        inside: &Inside,
        properties: &Properties,
    ) -> (ThinVec<crate::ast::item::Let>, bool) {
        let mut again = false;
        let written = properties.all(|kind| match kind {
            PropertyKind::Let(bound) => Some(&**bound),
            _ => None,
        });
        let mut lets: ThinVec<crate::ast::item::Let> = ThinVec::new();
        for bound in written {
            self.check_local_name(&bound.name);
            if let Some(first) = lets.iter().find(|known| known.name.node == bound.name.node) {
                let first = first.name.clone();
                self.twice("name", &first, &bound.name);
                again = true;
                continue;
            }
            lets.push(self.bound(inside.file, bound));
        }
        (lets, again)
    }

    fn head_edge(&mut self, inside: &Inside, node: &Written) -> ThinVec<Jump> {
        let edge = node.edge.iter().map(|target| Jump {
            to: self.targets(inside, target),
            set: ThinVec::new(),
            emits: ThinVec::new(),
            span: target.span,
        });
        edge.collect()
    }

    fn goto(
        &mut self,
        inside: &Inside,
        node: &Written,
        properties: &Properties,
    ) -> Option<Spanned<super::super::target::Route>> {
        let property = properties.whole(|kind| matches!(kind, PropertyKind::Goto(_)));
        let Some(property) = property else {
            if matches!(node.kind, Kind::Branch) {
                let message = format!("branch `{}` has no `goto`", node.name.node);
                self.missing(node, message, "write `goto { when .. -> a  else -> b }`");
            }
            return None;
        };
        match &property.kind {
            PropertyKind::Goto(jumps) => {
                Some(Spanned::new(self.route(inside, jumps), property.keyword))
            }
            _ => None,
        }
    }

    fn ends(&mut self, inside: &Inside, properties: &Properties) -> Option<Ends> {
        let property = properties.whole(|kind| matches!(kind, PropertyKind::Ends(_)))?;
        let PropertyKind::Ends(written) = &property.kind else {
            return None;
        };
        let mut items: Vec<End> = Vec::new();
        let mut seen: BTreeMap<&str, &Name> = BTreeMap::new();
        for end in written {
            if let Some(first) = seen.get(end.name.as_str()) {
                self.twice("name", first, &end.name);
                continue;
            }
            seen.insert(&end.name, &end.name);
            items.push(self.end(inside, end));
        }
        Some(Ends {
            items,
            span: property.span,
        })
    }

    fn end(&mut self, inside: &Inside, end: &crate::ast::node::End) -> End {
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
        End {
            name: end.name.clone(),
            to: Target {
                kind,
                span: own.span,
            },
        }
    }

    /// `ends [again as redo]` for `ends [redo as again]`, and `fail`, which is no place to go to.
    fn swapped_end(
        &self,
        inside: &Inside,
        end: &crate::ast::node::End,
    ) -> Option<crate::diag::Diagnostic> {
        let own = end.alias.as_ref().unwrap_or(&end.name);
        if inside.nodes.contains_key(&own.node) {
            return None;
        }
        let name = &end.name;
        let new = |message: String| {
            crate::diag::Diagnostic::new(&crate::diag::codes::UNKNOWN_TARGET, message, own.span)
        };
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

    fn node_retry(
        &mut self,
        inside: &Inside,
        work: &Work,
        properties: &Properties,
    ) -> Option<Own<Retry>> {
        let own = properties.one(|kind| match kind {
            PropertyKind::Retry(spec) => Some(spec),
            _ => None,
        });
        let value = match own {
            Some(spec) => self.retry(inside.file, spec),
            None if has_effect(work) => self.program.graphs[inside.graph].retry.clone(),
            None => None,
        };
        let at = properties.whole(|kind| matches!(kind, PropertyKind::Retry(_)));
        let at = at.map(|property| property.span);
        value.map(|value| Own { value, at })
    }

    fn node_timeout(
        &mut self,
        inside: &Inside,
        work: &Work,
        properties: &Properties,
    ) -> Option<Own<u64>> {
        if matches!(work, Work::Interrupt { .. }) {
            return None;
        }
        let own = properties.one(|kind| match kind {
            PropertyKind::Timeout { after, to } => Some((*after, to)),
            _ => None,
        });
        let Some((after, to)) = own else {
            let default = self.program.graphs[inside.graph].timeout_ms;
            let taken = default.filter(|_| has_effect(work));
            return taken.map(|value| Own { value, at: None });
        };
        if let Some(to) = to {
            self.timeout_target(to.span);
        }
        let at = properties.whole(|kind| matches!(kind, PropertyKind::Timeout { .. }));
        let at = at.map(|property| property.span);
        let value = self.duration("`timeout`", after)?;
        Some(Own { value, at })
    }

    fn timeout_target(&mut self, span: Span) {
        let message = "only the `timeout` of an `interrupt` has a target";
        let diagnostic =
            crate::diag::Diagnostic::new(&crate::diag::codes::PROPERTY_NOT_ALLOWED, message, span)
                .help("write `on_error { when error.kind == \"timeout\" -> .. }`");
        self.diags.push(diagnostic);
    }

    fn on_error(
        &mut self,
        inside: &Inside,
        properties: &Properties,
    ) -> Option<super::super::target::Route> {
        let jumps = properties.one(|kind| match kind {
            PropertyKind::OnError(jumps) => Some(jumps),
            _ => None,
        })?;
        Some(self.route(inside, jumps))
    }

    fn max_visits(&mut self, inside: &Inside, properties: &Properties) -> Option<MaxVisits> {
        let property = properties.whole(|kind| matches!(kind, PropertyKind::MaxVisits { .. }))?;
        let PropertyKind::MaxVisits { limit, to } = &property.kind else {
            return None;
        };
        let limit = self.count((inside.file, inside.graph), "`max_visits`", limit);
        let to = self.jump(inside, to);
        Some(MaxVisits {
            limit: limit.number.unwrap_or(1),
            limit_by: limit.by,
            to,
            span: property.span,
        })
    }
}

impl Resolver<'_> {
    fn cache(&mut self, inside: &Inside, properties: &Properties) -> Option<Cache> {
        let property = properties.whole(|kind| matches!(kind, PropertyKind::Cache { .. }))?;
        let PropertyKind::Cache { key, ttl } = &property.kind else {
            return None;
        };
        Some(Cache {
            key: key.as_ref().map(|key| self.expr(inside.file, key)),
            ttl_ms: ttl.and_then(|ttl| self.duration("`ttl`", ttl)),
            span: property.span,
        })
    }
}

fn tags(properties: &Properties) -> ThinVec<String> {
    let names = properties.one(|kind| match kind {
        PropertyKind::Tags(names) => Some(names),
        _ => None,
    });
    names
        .into_iter()
        .flatten()
        .map(|name| name.node.clone())
        .collect()
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
