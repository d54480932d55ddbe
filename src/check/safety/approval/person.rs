//! Whether a person who is asked in a node has agreed to what goes on from it: for values, which a search follows
//! backwards.

use crate::ast::expr::{Expr, LogicalOp};
use crate::base::Span;
use crate::ir::GraphId;
use crate::resolve::program::{Jump, Node, Program, Route, Work};

use super::super::super::cfg::EdgeKind;
use super::answer::{Says, joined};
use super::decided::Decided;
use super::decision::{keeps_answer, reads_decision};
use super::looks::chosen_by;
use super::others::Others;

/// What persons say in a program.
pub struct Persons<'a> {
    program: &'a Program,
    decided: Decided<'a>,
}

impl<'a> Persons<'a> {
    /// Reads who writes what was answered.
    pub fn new(program: &'a Program) -> Self {
        Self {
            program,
            decided: Decided::new(program),
        }
    }

    /// What is said where a node takes a way: by the arm's condition, or by the `skip`.
    pub fn on_way(&self, id: GraphId, node: &'a Node, kind: EdgeKind, transition: Span) -> Says {
        match kind {
            EdgeKind::Goto => self.by_goto(id, node, transition),
            EdgeKind::Edge => match &*node.edges {
                [edge] => self.sent(id, node, edge),
                _ => Says::Nothing,
            },
            EdgeKind::Skip => {
                let own = |to: Span| to == transition;
                let mut skips = node.skips.iter();
                let skip = skips.find(|s| s.to.as_ref().is_some_and(|to| own(to.span)));
                skip.map_or(Says::Nothing, |skip| self.says(id, node, &skip.when, true))
            }
            _ => Says::Nothing,
        }
    }

    /// What is said behind a node's `skip` and `require`.
    pub fn behind_guards(&self, id: GraphId, node: &'a Node) -> Says {
        let skips = node.skips.iter().map(|skip| (&skip.when, false));
        let requires = node.requires.iter();
        let requires = requires.map(|require| (&require.condition, true));
        let all = skips.chain(requires);
        let all: Vec<Says> = all
            .map(|(condition, truth)| self.says(id, node, condition, truth))
            .collect();
        match all.is_empty() {
            true => Says::Nothing,
            false => joined(LogicalOp::And, &all),
        }
    }

    /// The `skip` or `require` that lets the node go on only where the answer is no.
    pub fn refusing_guard(&self, id: GraphId, node: &'a Node) -> Option<Span> {
        let skips = node.skips.iter().map(|skip| (&skip.when, false));
        let requires = node.requires.iter();
        let requires = requires.map(|require| (&require.condition, true));
        let mut all = skips.chain(requires);
        let refusing = all.find(|(when, truth)| self.says(id, node, when, *truth) == Says::No);
        refusing.map(|(when, _)| when.span)
    }

    /// Whether an interrupt in front of the node is one whose answer allows what the node does, or its way on.
    pub fn agreed_before(&self, id: GraphId, node: &'a Node) -> bool {
        if node.stops.iter().all(|node| node.after) {
            return false;
        }
        match self.behind_guards(id, node) {
            Says::Yes | Says::Something | Says::Never => true,
            Says::No => false,
            Says::Nothing => self.reads_answer(node),
        }
    }

    /// Whether the answer to a question around the node is read in what it does, writes or decides.
    fn reads_answer(&self, node: &'a Node) -> bool {
        let args = match &node.work {
            Work::Call { args, .. } => args.iter().map(|arg| &arg.value).collect(),
            Work::Subgraph { with, .. } => with.iter().map(|pass| &pass.value).collect(),
            _ => Vec::new(),
        };
        let arms = match node.goto.as_ref().map(|goto| &goto.node) {
            Some(Route::Arms(arms, _)) => arms.iter().filter_map(|arm| arm.when.as_ref()).collect(),
            _ => Vec::new(),
        };
        let mut all = args.into_iter().chain(arms);
        keeps_answer(self.program, node) || all.any(|expr| reads_decision(self.program, node, expr))
    }

    fn by_goto(&self, id: GraphId, node: &'a Node, transition: Span) -> Says {
        match node.goto.as_ref().map(|goto| &goto.node) {
            Some(Route::Arms(arms, _)) => {
                let Some(at) = arms.iter().position(|arm| arm.jump.span == transition) else {
                    return Says::Nothing;
                };
                let (before, from) = arms.split_at(at);
                let own = from.first().and_then(|arm| arm.when.as_ref());
                let own = own.map_or(Says::Nothing, |when| self.says(id, node, when, true));
                // An arm that asks for something else is taken where none before it was, as `else` is.
                if own != Says::Nothing {
                    return own;
                }
                let whens = before.iter().filter_map(|arm| arm.when.as_ref());
                let before: Vec<Says> =
                    whens.map(|when| self.says(id, node, when, false)).collect();
                let says = match before.is_empty() {
                    true => Says::Nothing,
                    false => joined(LogicalOp::And, &before),
                };
                let jump = from.first().map(|arm| &arm.jump);
                match (says, jump) {
                    (Says::Nothing, Some(jump)) => self.sent(id, node, jump),
                    (says, _) => says,
                }
            }
            Some(Route::Always(jump)) => self.sent(id, node, jump),
            None => Says::Nothing,
        }
    }

    /// Where the answer says where a jump leads, or what an `each` sends, the person has chosen it.
    fn sent(&self, id: GraphId, node: &'a Node, jump: &'a Jump) -> Says {
        let mut exprs = jump.to.iter().flat_map(chosen_by);
        match exprs.any(|expr| self.says(id, node, expr, true) != Says::Nothing) {
            true => Says::Something,
            false => Says::Nothing,
        }
    }

    fn says(&self, id: GraphId, node: &'a Node, condition: &'a Expr, truth: bool) -> Says {
        let counts = |place| Some((self.decided.sense(place)?, Others::None));
        self.decided
            .says(self.program, (id, node), counts, (condition, truth))
    }

    /// Whether the answer is kept for what follows.
    pub fn is_kept(&self, node: &Node) -> bool {
        keeps_answer(self.program, node)
    }
}
