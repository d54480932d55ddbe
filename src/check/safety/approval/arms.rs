//! What a person has said where an interrupt takes an arm, by the answer alone.

use crate::ast::expr::LogicalOp;
use crate::base::Span;
use crate::resolve::program::{Node, Program, Route};

use super::super::reads::Mention;
use super::answer::{Says, joined};
use super::decision::is_decision;
use super::looks::chosen_by;
use super::reader::Reader;
use super::sense::Heard;

/// What was said on each arm of an interrupt, by the place of its jump.
pub fn said_by_arms(program: &Program, node: &Node) -> Vec<(Span, Says)> {
    let heard = |mention: Mention<'_>| {
        let answer = mention.field().is_none() && is_decision(program, node, mention);
        answer.then_some(Heard::ANSWER)
    };
    let reader = Reader::new(&node.lets, &heard);
    let mut found = Vec::new();
    // What was said where none of the arms before was taken.
    let mut left: Option<Says> = None;
    for goto in node.goto.iter().map(|goto| &goto.node) {
        let arms = match goto {
            Route::Arms(arms, _) => &arms[..],
            Route::Always(_) => &[],
        };
        for arm in arms {
            let when = arm.when.as_ref();
            let sense = when.filter(|when| reader.depends(when));
            let sense = sense.map(|when| reader.condition(when));
            let says = sense.map(|sense| sense.yes).filter(|s| *s != Says::Nothing);
            found.push((arm.jump.span, says.or(left).unwrap_or(Says::Nothing)));
            if let Some(sense) = sense {
                let all = [left.unwrap_or(Says::Nothing), sense.no];
                left = Some(joined(LogicalOp::And, &all));
            }
        }
        if let Route::Always(jump) = goto {
            let mut chosen = jump.to.iter().flat_map(chosen_by);
            let says = match chosen.any(|expr| reader.depends(expr)) {
                true => Says::Something,
                false => Says::Nothing,
            };
            found.push((jump.span, says));
        }
    }
    found
}
