//! Graphs and their members.

use crate::ast::Name;
use crate::ast::graph::{
    BasedOn, Graph, Member, Migration, ReducerRef, StateField, StaticInterrupt,
};
use crate::ast::node::{Jumps, PropertyKind};
use crate::ast::ty::{Field, TypeExpr, TypeKind};
use crate::base::Span;
use crate::diag::{Diagnostic, codes};

use super::build::Builder;
use super::grammar::{Pair, Rule};
use super::message::is_word_or_sign;

impl Builder<'_> {
    /// `graph Name(params) leaves [a] {`, what a graph is but for its members.
    pub fn graph_head(&mut self, pair: Pair) -> Option<Graph> {
        let (doc, span) = (self.doc(&pair), self.span(&pair));
        let (name, parts) = self.parts(pair)?;
        let mut graph = Graph {
            doc,
            name,
            params: Vec::new(),
            contracts: Vec::new(),
            briefs: Vec::new(),
            leaves: Vec::new(),
            members: Vec::new(),
            span,
        };
        for part in parts {
            match part.as_rule() {
                Rule::graph_params => self.graph_params(&mut graph, part),
                Rule::names => graph.leaves = self.names(part),
                _ => {}
            }
        }
        Some(graph)
    }

    /// Parameters of a graph. The type of one that is a graph is written with the fields that it must have.
    fn graph_params(&mut self, graph: &mut Graph, pair: Pair) {
        for param in pair.into_inner() {
            match param.as_rule() {
                Rule::worker_param => {}
                Rule::brief_param => {
                    self.brief_param(graph, param);
                    continue;
                }
                _ => {
                    graph.params.extend(self.field(param));
                    continue;
                }
            }
            let (doc, span) = (self.doc(&param), self.span(&param));
            let mut parts = param.into_inner();
            let Some(name) = parts.next().map(|name| self.name(&name)) else {
                continue;
            };
            let contract = parts.find(|part| part.as_rule() == Rule::contract);
            let fields = contract.map_or(Vec::new(), |contract| {
                self.entries(
                    contract.into_inner(),
                    Rule::only_state_field,
                    Self::state_field,
                )
            });
            let ty = TypeExpr {
                kind: TypeKind::Name("graph".to_owned()),
                span: Span {
                    start: name.span.end,
                    ..span
                },
            };
            graph.contracts.push((name.node.clone(), fields));
            graph.params.push(Field {
                doc,
                name,
                ty,
                default: None,
                attributes: Vec::new(),
                span,
            });
        }
    }

    /// A parameter that is a prompt, with the values that it is given.
    fn brief_param(&mut self, graph: &mut Graph, pair: Pair) {
        let (doc, span) = (self.doc(&pair), self.span(&pair));
        let mut parts = pair.into_inner();
        let Some(name) = parts.next().map(|name| self.name(&name)) else {
            return;
        };
        let mut ty = TypeExpr {
            kind: TypeKind::Name("prompt".to_owned()),
            span: name.span,
        };
        let mut given = Vec::new();
        let mut default = None;
        for part in parts {
            match part.as_rule() {
                Rule::kw_prompt => ty.span = self.span(&part),
                Rule::params => {
                    ty.span.end = self.span(&part).end;
                    given = self.params(part);
                }
                Rule::expr => default = Some(self.expr(part)),
                _ => {}
            }
        }
        graph.briefs.push((name.node.clone(), given));
        graph.params.push(Field {
            doc,
            name,
            ty,
            default,
            attributes: Vec::new(),
            span,
        });
    }

    /// One member as written; several for a chain of edges.
    pub fn member(&mut self, pair: Pair) -> Vec<Member> {
        match pair.as_rule() {
            Rule::start_m => self.start(pair),
            Rule::edge_m => self.edge(pair),
            _ => self.single_member(pair).into_iter().collect(),
        }
    }

    fn single_member(&mut self, pair: Pair) -> Option<Member> {
        let span = self.span(&pair);
        let rule = pair.as_rule();
        match rule {
            Rule::node_m => return self.node(pair).map(|n| Member::Node(Box::new(n))),
            Rule::on_error_m => return self.jumps(pair).map(|j| Member::OnError(j, span)),
            Rule::interrupt_m => {
                let interrupt = self.static_interrupt(pair).map(Box::new);
                return interrupt.map(Member::Interrupt);
            }
            Rule::state_m => {
                let fields = pair.into_inner();
                let fields = self.entries(fields, Rule::only_state_field, Self::state_field);
                return Some(Member::State(fields, span));
            }
            Rule::migrate_m => {
                let lines = self.entries(pair.into_inner(), Rule::only_migration, Self::migration);
                return Some(Member::Migrate(lines, span));
            }
            _ => {}
        }
        let part = pair
            .into_inner()
            .find(|p| !super::message::is_keyword(p.as_rule()))?;
        Some(match rule {
            Rule::context_m => Member::Context(self.field_block(part), span),
            Rule::tools_m => Member::Tools(self.tool_refs(part), span),
            Rule::model_m => Member::Model(self.name(&part), span),
            Rule::retry_m => Member::Retry(self.retry_spec(part)?, span),
            Rule::timeout_m => Member::Timeout(self.duration(&part), span),
            Rule::limit_m => Member::RecursionLimit(self.expr(part), span),
            Rule::exit_m => Member::Exit(self.expr(part), span),
            _ => return None,
        })
    }

    /// `start -> a`, also as the head of a chain, or `start { when .. }`
    fn start(&mut self, pair: Pair) -> Vec<Member> {
        let span = self.span(&pair);
        let jumps = pair
            .clone()
            .into_inner()
            .filter(|p| p.as_rule() == Rule::jump)
            .skip(1);
        let jumps: Vec<Pair> = jumps.collect();
        let Some(first) = self.jumps(pair) else {
            return Vec::new();
        };
        let after = match &first {
            Jumps::Always(jump) => {
                Some((self.names_of(&jump.target), jump.span, jump.target.clone()))
            }
            Jumps::Arms(..) => None,
        };
        let start_span = after
            .as_ref()
            .map_or(span, |(_, jump, _)| span_until(span, *jump));
        let mut members = vec![Member::Start(first, start_span)];
        match (after, jumps.first()) {
            (Some((Some(from), _, _)), Some(_)) => {
                members.extend(
                    self.chain(from, jumps.into_iter())
                        .into_iter()
                        .map(|edge| Member::Edge(Box::new(edge))),
                );
            }
            (Some((None, _, target)), Some(next)) => self.no_way_on(&target, self.span(next)),
            _ => {}
        }
        members
    }

    /// `a -> b -> c`, `[a, b] -> c`
    fn edge(&mut self, pair: Pair) -> Vec<Member> {
        let mut parts = pair.into_inner();
        let Some(first) = parts.next() else {
            return Vec::new();
        };
        let span = self.span(&first);
        let from = match first.as_rule() {
            Rule::names => (self.names(first), true, span),
            _ => (vec![self.name(&first)], false, span),
        };
        let jumps = parts.filter(|p| p.as_rule() == Rule::jump);
        let edges = self.chain(from, jumps);
        let boxed = |edge| Member::Edge(Box::new(edge));
        edges.into_iter().map(boxed).collect()
    }

    fn state_field(&mut self, pair: Pair) -> Option<StateField> {
        let (doc, span) = (self.doc(&pair), self.span(&pair));
        let mut parts = pair.into_inner().peekable();
        let mut modifiers = Vec::new();
        while let Some(word) = parts.next_if(|p| p.as_rule() == Rule::modifier) {
            modifiers.push((word.as_str(), self.word_span(&word)));
        }
        self.check_modifiers(&modifiers);
        let find = |wanted| modifiers.iter().find(|(word, _)| *word == wanted);
        let name = self.name(&parts.next()?);
        let mut ty = None;
        let mut field = (None, None, None, Vec::new());
        for part in parts {
            match part.as_rule() {
                Rule::type_expr => ty = Some(self.type_expr(part)),
                Rule::via => self.once(&mut field.0, "`via`", part, Self::reducer_ref),
                Rule::state_expr => self.once(&mut field.1, "default", part, Self::expr),
                Rule::based_on => self.once(&mut field.2, "`based_on`", part, Self::based_on),
                Rule::attribute => field.3.extend(self.attribute(part)),
                _ => {}
            }
        }
        Some(StateField {
            doc,
            input: find("in").is_some(),
            output: find("out").is_some(),
            persist: find("persist").map(|(_, span)| *span),
            ephemeral: find("ephemeral").map(|(_, span)| *span),
            untracked: find("untracked").map(|(_, span)| *span),
            name,
            ty: ty?,
            reducer: field.0.flatten(),
            default: field.1,
            based_on: field.2,
            attributes: field.3,
            span,
        })
    }

    /// Reports a modifier that stands twice, and `out in`.
    fn check_modifiers(&mut self, modifiers: &[(&str, Span)]) {
        for (at, (word, span)) in modifiers.iter().enumerate() {
            let before = modifiers.get(..at).unwrap_or_default();
            if let Some((_, first)) = before.iter().find(|(other, _)| other == word) {
                self.diags.push(
                    Diagnostic::new(
                        &codes::SYNTAX_ERROR,
                        format!("a second `{word}` here"),
                        *span,
                    )
                    .label(*first, "the first one")
                    .help("keep one of the two")
                    .fix(first.to(*span), *word),
                );
            } else if let Some((_, out)) = before
                .iter()
                .find(|(other, _)| *word == "in" && *other == "out")
            {
                let message = "`out in` is written `in out`";
                self.diags.push(
                    Diagnostic::new(&codes::SYNTAX_ERROR, message, out.to(*span))
                        .help("write `in out`, or one of the two")
                        .fix(out.to(*span), "in out"),
                );
            }
        }
    }

    fn reducer_ref(&mut self, pair: Pair) -> Option<ReducerRef> {
        let mut names = pair
            .clone()
            .into_inner()
            .filter(|p| p.as_rule() == Rule::ident);
        let name = self.name(&names.next()?);
        let span = name.span.to(self.span(&pair).after());
        Some(ReducerRef {
            args: names.map(|p| self.name(&p)).collect(),
            name,
            span,
        })
    }

    fn based_on(&mut self, pair: Pair) -> BasedOn {
        let span = self.span(&pair);
        let mut fields = Vec::new();
        let mut reset = false;
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::kw_reset => reset = true,
                Rule::based_list => fields = self.based_fields(part),
                _ => {}
            }
        }
        BasedOn {
            fields,
            reset,
            span,
        }
    }

    fn based_fields(&self, pair: Pair) -> Vec<(Name, bool)> {
        let fields = pair.into_inner().filter_map(|field| {
            let mut words = field.into_inner();
            let name = self.name(&words.next()?);
            Some((name, words.next().is_some()))
        });
        fields.collect()
    }

    fn static_interrupt(&mut self, pair: Pair) -> Option<StaticInterrupt> {
        let span = self.span(&pair);
        let mut names = Vec::new();
        let mut found = (false, None, None);
        let mut permits = Vec::new();
        let (mut first, mut twice) = ([None; 2], Vec::new());
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::kw_after => found.0 = true,
                Rule::ident => names.push(self.name(&part)),
                Rule::interrupt_body => {
                    self.entries(part.into_inner(), Rule::only_interrupt, |b, line| {
                        let property = b.property(line)?;
                        let word = match &property.kind {
                            PropertyKind::Ask(_) => 0,
                            PropertyKind::Expect(_) => 1,
                            PropertyKind::Permit(_) => {
                                if let PropertyKind::Permit(permit) = property.kind {
                                    permits.push(*permit);
                                }
                                return Some(());
                            }
                            _ => return Some(()),
                        };
                        // The first one counts.
                        if let Some(known) = first.get(word).copied().flatten() {
                            twice.push((property.keyword, known));
                            return Some(());
                        }
                        if let Some(first) = first.get_mut(word) {
                            *first = Some(property.keyword);
                        }
                        match property.kind {
                            PropertyKind::Ask(ask) => found.1 = Some(ask),
                            PropertyKind::Expect(ty) => found.2 = Some(ty),
                            _ => {}
                        }
                        Some(())
                    });
                }
                _ => {}
            }
        }
        let mut names = names.into_iter();
        Some(StaticInterrupt {
            name: names.next()?,
            after: found.0,
            node: names.next()?,
            ask: found.1,
            expect: found.2,
            permits,
            twice,
            span,
        })
    }

    fn migration(&mut self, pair: Pair) -> Option<Migration> {
        let rule = pair.as_rule();
        let mut parts = pair.into_inner().filter(|p| !is_word_or_sign(p.as_rule()));
        let name = self.name(&parts.next()?);
        Some(match rule {
            Rule::rename_field => Migration::RenameField(name, self.name(&parts.next()?)),
            Rule::rename_node => Migration::RenameNode(name, self.name(&parts.next()?)),
            Rule::drop_field => Migration::DropField(name),
            _ => Migration::Default(name, self.expr(parts.next()?)),
        })
    }

    /// The one name of `model NAME` and the like.
    pub fn single_name(&self, pair: Pair) -> Option<Name> {
        pair.into_inner()
            .find(|p| p.as_rule() == Rule::ident)
            .map(|p| self.name(&p))
    }
}

/// From the start of one span to the end of another.
fn span_until(start: Span, end: Span) -> Span {
    Span {
        end: end.end,
        ..start
    }
}
