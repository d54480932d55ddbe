//! Targets, jumps and arms.

use crate::ast::Name;
use crate::ast::graph::Edge;
use crate::ast::node::{Jumps, PropertyKind};
use crate::ast::target::{Arm, Each, Jump, Target, TargetKind};
use crate::base::{Span, Spanned};
use crate::diag::{Diagnostic, codes};

use super::build::Builder;
use super::grammar::{Pair, Rule};

impl Builder<'_> {
    /// A target without an update.
    pub fn target(&mut self, pair: Pair) -> Option<Target> {
        let span = self.span(&pair);
        let form = pair.into_inner().next()?;
        let rule = form.as_rule();
        let text = form.as_str().to_owned();
        let mut parts = form
            .into_inner()
            .filter(|p| !super::message::is_word_or_sign(p.as_rule()));
        let kind = match rule {
            Rule::end_target => TargetKind::End,
            Rule::fail_target => TargetKind::Fail(parts.next().map(|e| Box::new(self.expr(e)))),
            Rule::parent_target => TargetKind::Parent(self.name(&parts.next()?)),
            Rule::all_target => TargetKind::All(parts.filter_map(|t| self.target(t)).collect()),
            Rule::computed_target => TargetKind::Computed(Box::new(self.expr(parts.next()?))),
            Rule::each_target => {
                let mut each = Each {
                    var: self.name(&parts.next()?),
                    items: self.expr(parts.next()?),
                    worker: self.name(&parts.next()?),
                    with: Vec::new(),
                    then: None,
                };
                for part in parts {
                    match part.as_rule() {
                        Rule::each_then => {
                            let mut then = part.into_inner();
                            each.then = then.find_map(|part| self.then(part));
                        }
                        _ => each.with = self.named_block(part),
                    }
                }
                TargetKind::Each(Box::new(each))
            }
            _ => TargetKind::Node(text),
        };
        Some(Target { kind, span })
    }

    /// The target behind `then`, whose keyword is a part as well.
    fn then(&mut self, part: Pair) -> Option<Target> {
        match part.as_rule() {
            Rule::target => self.target(part),
            _ => None,
        }
    }

    /// A target with its update.
    pub fn jump(&mut self, pair: Pair) -> Option<Jump> {
        let span = self.span(&pair);
        let mut parts = pair.into_inner();
        let mut jump = Jump::from(self.target(parts.next()?)?);
        jump.span = span;
        if let Some(update) = parts.next() {
            self.entries(update.into_inner(), Rule::only_update, |b, line| {
                match b.property(line)?.kind {
                    PropertyKind::Set(items) => jump.set.extend(items),
                    PropertyKind::Emit(emit) => jump.emits.push(*emit),
                    _ => {}
                }
                Some(())
            });
        }
        Some(jump)
    }

    /// What a property or member that jumps leads to: arms, or the first jump in it.
    pub fn jumps(&mut self, pair: Pair) -> Option<Jumps> {
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::arms => {
                    let span = self.span(&part);
                    let arms = self.entries(part.into_inner(), Rule::only_arm, Self::arm);
                    return Some(Jumps::Arms(arms, span));
                }
                Rule::jump => return self.jump(part).map(|jump| Jumps::Always(Box::new(jump))),
                _ => {}
            }
        }
        None
    }

    fn arm(&mut self, pair: Pair) -> Option<Arm> {
        let span = self.span(&pair);
        let mut when = None;
        let mut jump = None;
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::expr => when = Some(self.expr(part)),
                Rule::jump => jump = self.jump(part),
                _ => {}
            }
        }
        Some(Arm {
            when,
            jump: jump?,
            span,
        })
    }

    /// The steps of a chain `first -> b -> [c, d] -> e`, `first` being the names it begins with, `join`
    /// whether they were written as a list.
    pub fn chain<'i>(
        &mut self,
        first: (Vec<Name>, bool, Span),
        jumps: impl Iterator<Item = Pair<'i>>,
    ) -> Vec<Edge> {
        let mut edges = Vec::new();
        let mut from = Some(first);
        for jump in jumps {
            let Some(to) = self.jump(jump) else { continue };
            let next = self.names_of(&to.target);
            match from {
                Some((names, join, start)) => edges.push(Edge {
                    span: start.to(to.span),
                    from: names,
                    join,
                    to,
                }),
                None => {
                    if let Some(previous) = edges.last().map(|e: &Edge| e.to.target.clone()) {
                        self.no_way_on(&previous, to.span);
                    }
                    return edges;
                }
            }
            from = next;
        }
        edges
    }

    /// The nodes that a chain goes on from after this target; `None` where it can't go on.
    pub fn names_of(&self, target: &Target) -> Option<(Vec<Name>, bool, Span)> {
        let name = |target: &Target| match &target.kind {
            TargetKind::Node(name) => Some(Spanned::new(name.clone(), target.span)),
            _ => None,
        };
        match &target.kind {
            TargetKind::All(members) => {
                let names: Option<Vec<Name>> = members.iter().map(name).collect();
                names.map(|names| (names, true, target.span))
            }
            TargetKind::Each(each) => self.names_of(each.then.as_ref()?),
            _ => name(target).map(|name| (vec![name], false, target.span)),
        }
    }

    /// Reports a chain that goes on from what is no node.
    pub fn no_way_on(&mut self, from: &Target, to: Span) {
        let found = "an edge goes on only from a node or a list of nodes";
        let found = Diagnostic::new(&codes::SYNTAX_ERROR, found, from.span)
            .label(to, "this step has no node to start from");
        self.diags.push(match &from.kind {
            TargetKind::Each(each) if each.then.is_none() => found.help(format!(
                "what comes behind all tasks of `{}` stands behind `then`: `each .. -> {} then NODE`",
                each.worker.node, each.worker.node
            )),
            _ => found,
        });
    }
}
