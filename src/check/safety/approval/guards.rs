//! What a node's own conditions come to: its `skip` and `require`, and the arms of its route.

use crate::base::Span;
use crate::resolve::program::{Node, Route, Skip, Stop, Work};

use super::super::super::cfg::{EdgeKind, Transition};
use super::answer::Says;
use super::decision::keeps_answer;
use super::walk::{Asked, At, Bypass, Here, Hop, Said, Walk};

impl<'a> Walk<'a> {
    /// A `skip` without a target leads on by the node's own way, also where it holds for a no.
    pub(super) fn past_refusing_skips(&mut self, at: At, here: Here<'a>, transition: &Transition) {
        for skip in here.node.skips.iter().filter(|skip| skip.to.is_none()) {
            let stop = here.node.stops.iter().any(|stop| !stop.after);
            let asked = if stop { Asked::Open } else { at.asked };
            if self.says((here, false), asked, &skip.when, true) == Says::No {
                // What comes behind may still look at the answer.
                let hop = Hop::Past(Bypass::Refused, skip.when.span);
                self.take(at, transition, Asked::Open, hop);
            }
        }
    }

    pub(super) fn skip(
        &self,
        at: At,
        here: Here<'a>,
        transition: &Transition,
        interrupt: bool,
    ) -> Option<(Asked, Hop)> {
        let node = here.node;
        let own = |skip: &&Skip| {
            skip.to
                .as_ref()
                .is_some_and(|to| to.span == transition.span)
        };
        let skip = node.skips.iter().find(own)?;
        let says = self.says((here, false), at.asked, &skip.when, true);
        let (asked, hop) = decide(at.asked, says, skip.span)?;
        let lost = self.lost((here, false), says, at.asked, &skip.when);
        Some(match (hop, lost) {
            (Hop::On, _) if interrupt => (asked, Hop::Past(Bypass::Skipped, skip.span)),
            (Hop::On, Some((bypass, span))) => (asked, Hop::Past(bypass, span)),
            (hop, _) => (asked, hop),
        })
    }

    /// What is known behind `skip` and `require`, and which of them holds for a no only, or for what something else
    /// wrote in an answer's place; an error where a person has agreed.
    pub(super) fn behind_guards(
        &self,
        here: Here<'a>,
        asked: Asked,
    ) -> Result<(Asked, Option<(Bypass, Span)>), Agreed> {
        let node = here.node;
        let (mut asked, mut turned) = (asked, None);
        let skips = node.skips.iter().map(|skip| (&skip.when, true));
        let requires = node.requires.iter();
        let requires = requires.map(|require| (&require.condition, false));
        for (condition, negated) in skips.chain(requires) {
            let says = self.says((here, false), asked, condition, !negated);
            let lost = self.lost((here, false), says, asked, condition);
            let (now, hop) = decide(asked, says, condition.span).ok_or(Agreed)?;
            asked = now;
            if let Hop::Past(bypass, span) = hop {
                turned = Some((bypass, span));
            } else {
                turned = turned.or(lost);
            }
        }
        Ok((asked, turned))
    }

    /// What is known behind one of a node's own ways; `None` where a person has agreed.
    pub(super) fn arm(
        &self,
        said: &Said,
        node: &Node,
        transition: &Transition,
        asked: Asked,
    ) -> Option<(Asked, Hop)> {
        let (says, lost) = match transition.kind {
            EdgeKind::Goto | EdgeKind::Edge => said.get(&transition.span).copied(),
            _ => None,
        }
        .unwrap_or((Says::Nothing, None));
        let asks = |stop: &&Stop| stop.after || asked == Asked::Open;
        let place = match (&node.work, node.stops.iter().find(asks)) {
            (_, Some(stop)) => stop.name.span,
            (Work::Interrupt { .. }, None) => node.name.span,
            _ => {
                let (asked, hop) = decide(asked, says, transition.span)?;
                return Some(match (hop, lost) {
                    (Hop::On, Some((bypass, span))) => (asked, Hop::Past(bypass, span)),
                    (hop, _) => (asked, hop),
                });
            }
        };
        match says {
            Says::Yes | Says::Something | Says::Never => None,
            Says::No => Some((Asked::No, Hop::Past(Bypass::Refused, transition.span))),
            Says::Nothing => {
                let asked = match keeps_answer(self.program, node) {
                    true => Asked::Open,
                    false => Asked::No,
                };
                // An arm that asks for something else is what has to be mended.
                let arms = node.goto.as_ref().map(|goto| &goto.node);
                let place = match (transition.kind, arms) {
                    (EdgeKind::Goto, Some(Route::Arms(arms, _))) if asked == Asked::No => {
                        let mut own = arms.iter();
                        let own = own.find(|arm| arm.jump.span == transition.span);
                        let when = own.and_then(|arm| arm.when.as_ref());
                        when.map_or(place, |when| when.span)
                    }
                    _ => place,
                };
                Some((asked, Hop::Past(Bypass::Ignored, place)))
            }
        }
    }
}

/// A person has agreed: nothing behind is followed.
pub(super) struct Agreed;

/// What a condition comes to, given what has been asked; `None` where a person has agreed.
fn decide(asked: Asked, says: Says, span: Span) -> Option<(Asked, Hop)> {
    match (asked, says) {
        (_, Says::Yes) | (Asked::Open, Says::Something) => None,
        (Asked::Open, Says::No) => Some((Asked::No, Hop::Past(Bypass::Refused, span))),
        _ => Some((asked, Hop::On)),
    }
}
