//! What a node reads of answers: in its arms, its conditions, its work, and in what it sends.

use crate::ast::expr::{Expr, LogicalOp};
use crate::ast::node::TemplateText;
use crate::base::Span;
use crate::resolve::program::{Jump, Route, Target, TargetKind, Work};

use super::super::reads::{self, Mention};
use super::answer::{Says, joined};
use super::decided::Place;
use super::decision::{mentioned, reads_decision};
use super::others::Others;
use super::place::places;
use super::sense::Sense;
use super::walk::{Asked, Bypass, Here, Lost, Said, Walk};

impl<'a> Walk<'a> {
    /// What each arm of a node's `goto` says of the answer, by the place of its jump.
    pub(super) fn said(&self, here: Here<'a>, asked: Asked) -> Said {
        let inside = (here, true);
        let mut said = Said::new();
        match here.node.goto.as_ref().map(|goto| &goto.node) {
            Some(Route::Arms(arms, _)) => {
                let mut before: Vec<Says> = Vec::new();
                let mut lost = None;
                for arm in arms {
                    let own = arm.when.as_ref();
                    let own = own.map(|when| self.says(inside, asked, when, true));
                    // An arm that asks for something else is taken where none before it was, as `else` is.
                    let says = match own {
                        Some(Says::Nothing) | None if !before.is_empty() => {
                            joined(LogicalOp::And, &before)
                        }
                        own => own.unwrap_or(Says::Nothing),
                    };
                    let says = match says {
                        Says::Nothing if self.sends_answer(inside, asked, &arm.jump) => {
                            Says::Something
                        }
                        says => says,
                    };
                    let when = arm.when.as_ref();
                    lost = lost.or(when.and_then(|when| self.lost(inside, says, asked, when)));
                    said.insert(arm.jump.span, (says, lost));
                    before.extend(when.map(|when| self.says(inside, asked, when, false)));
                }
            }
            Some(Route::Always(jump)) if self.sends_answer(inside, asked, jump) => {
                said.insert(jump.span, (Says::Something, None));
            }
            Some(Route::Always(_)) | None => {}
        }
        if let [edge] = &*here.node.edges
            && self.sends_answer(inside, asked, edge)
        {
            said.insert(edge.span, (Says::Something, None));
        }
        said
    }

    /// Whether the answer says where a jump leads, or what an `each` sends: then the person has chosen it.
    pub(super) fn sends_answer(
        &self,
        inside: (Here<'a>, bool),
        asked: Asked,
        jump: &'a Jump,
    ) -> bool {
        let exprs = jump.to.iter().flat_map(chosen_by);
        let mut says = exprs.map(|expr| self.says(inside, asked, expr, true));
        says.any(|says| says != Says::Nothing)
    }

    /// What a condition says of an answer. A field that others write too counts only once somebody was asked.
    pub(super) fn says(
        &self,
        (here, behind): (Here<'a>, bool),
        asked: Asked,
        condition: &'a Expr,
        truth: bool,
    ) -> Says {
        let counts = |place: Place| {
            let sense = self.holds(place, asked)?;
            let own = asked == Asked::No || self.written(here, place, behind).is_none();
            let sure = self.sure.sense(place).is_some();
            if !(own || sure) || self.is_left(here, place, behind) {
                return None;
            }
            // The answer itself, or what may be there in its place.
            let said = asked == Asked::Open && own && self.decided.sense(place).is_some();
            Some(match said {
                true => (sense, Others::None),
                false => (
                    sense,
                    self.sure.others(place, self.is_first(here, place, behind)),
                ),
            })
        };
        let of = (here.graph_id, here.node);
        self.decided
            .says(self.program, of, counts, (condition, truth))
    }

    /// The direction of a field that holds an answer, as far as writes go.
    fn holds(&self, place: Place, asked: Asked) -> Option<Sense> {
        let sure = self.sure.sense(place);
        match asked {
            Asked::Open => self.decided.sense(place).or(sure),
            Asked::No => sure,
        }
    }

    /// Whether a field may still be what it begins with.
    fn is_first(&self, here: Here<'a>, place: Place, behind: bool) -> bool {
        match place.0 == here.graph_id {
            true => self.kept.may_be_first(place, Some((here.id, behind))),
            false => self.kept.may_be_first(place, None),
        }
    }

    /// The write that took the place of an answer: in the node, or at the end of the graph that it calls.
    fn written(&self, here: Here<'a>, place: Place, behind: bool) -> Option<Span> {
        match place.0 == here.graph_id {
            true => self.overwritten.at(place, here.id, behind),
            false => self.overwritten.at_end(place),
        }
    }

    /// Whether all that the field can hold was left by an earlier run.
    fn is_left(&self, here: Here<'a>, place: Place, behind: bool) -> bool {
        match place.0 == here.graph_id {
            true => self.kept.is_of_earlier_run(place, here.id, behind),
            false => self.kept.is_never_written(place),
        }
    }

    /// Why what a condition would speak of is no answer.
    pub(super) fn lost(
        &self,
        (here, behind): (Here<'a>, bool),
        says: Says,
        asked: Asked,
        condition: &'a Expr,
    ) -> Option<Lost> {
        if says != Says::Nothing {
            return None;
        }
        let lets = reads::lets(&here.node.lets);
        let of = (here.graph_id, Some(here.node));
        let mentions = reads::mentions(condition, &lets).into_iter();
        let mut all = mentions.flat_map(|mention| places(self.program, of, mention));
        all.find_map(|place| {
            let open = asked == Asked::Open;
            let written = self.written(here, place, behind).filter(|_| open);
            let kept = || {
                self.decided.sense(place)?;
                self.holds(place, asked)?;
                let kept = self.is_left(here, place, behind);
                kept.then_some((Bypass::Kept, condition.span))
            };
            let written = written.map(|span| (Bypass::Overwritten, span));
            written.or_else(kept)
        })
    }

    /// Whether a node reads what a person said, so that the answer is part of what it does.
    pub(super) fn looks_at_answer(&self, here: Here<'a>) -> bool {
        let node = here.node;
        let lets = reads::lets(&node.lets);
        let kept = |mention: Mention<'_>| {
            let field = mentioned(self.program, here.graph, mention);
            let place = field.map(|field| (here.graph_id, field));
            place.is_some_and(|place| {
                self.decided.fields.contains(&place)
                    && self.overwritten.at(place, here.id, false).is_none()
            })
        };
        let exprs: Vec<&Expr> = match &node.work {
            Work::Call { args, .. } => args.iter().map(|arg| &arg.value).collect(),
            Work::Llm(call) | Work::Agent { call, .. } => call.messages.iter().collect(),
            Work::Tools { messages, .. } => messages.as_deref().into_iter().collect(),
            Work::Subgraph { with, .. } => with.iter().map(|pass| &pass.value).collect(),
            _ => Vec::new(),
        };
        let texts = match &node.work {
            Work::Llm(call) | Work::Agent { call, .. } => [&call.system, &call.prompt],
            _ => [&None, &None],
        };
        let in_text = |text: &TemplateText| {
            let mut words = evaluated(&text.text).flat_map(|part| part.split("state.").skip(1));
            words.any(|rest| {
                let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.'));
                let path = rest.get(..end.unwrap_or(rest.len())).unwrap_or("");
                let mut steps = path.split('.').filter(|step| !step.is_empty());
                let first = steps.next().unwrap_or("");
                kept(match steps.next() {
                    Some(part) => Mention::FieldPart(first, part),
                    None => Mention::Field(first),
                })
            })
        };
        let words = || texts.into_iter().flatten();
        let given = words().flat_map(|words| &words.from);
        let given = given.flat_map(|prompt| prompt.args.iter().map(|arg| &arg.value));
        let exprs = exprs.into_iter().chain(given);
        words().map(|words| &words.text).any(in_text)
            || exprs.into_iter().any(|expr| {
                reads::used(expr, &lets).into_iter().any(kept)
                    || reads_decision(self.program, node, expr)
            })
    }
}

/// What decides where a target leads, or what is sent there.
pub fn chosen_by(target: &Target) -> Vec<&Expr> {
    match &target.kind {
        TargetKind::Computed(expr) => vec![expr],
        TargetKind::Each(each) => {
            let values = each.with.iter().map(|arg| &arg.value);
            values.chain([&each.items]).collect()
        }
        _ => Vec::new(),
    }
}

/// What a template evaluates: its texts and comments are left out.
fn evaluated(text: &str) -> impl Iterator<Item = &str> {
    let parts = text.split('{').skip(1);
    // `{{ x }}` is split into nothing and ` x }}`, `{% if x %}` begins with its sign.
    let mut doubled = false;
    parts.filter_map(move |part| {
        let inside = doubled || part.starts_with('%');
        doubled = part.is_empty();
        let end = part.find('}').unwrap_or(part.len());
        part.get(..end).filter(|_| inside)
    })
}
