//! A whole file, read piece by piece: an item at a time, and of a graph a member at a time.
//!
//! What pest notes of a text takes many times the room of the text, so it is asked for one piece,
//! the piece is built, and its notes are gone before the next. A file of 100,000 nodes then needs
//! little more than its tree.

use pest::Parser;

use crate::ast::graph::{Graph, Member};
use crate::ast::item::{File, Item};

use crate::base::Span;
use crate::diag::{Diagnostic, codes};

use super::build::{Builder, Previous};
use super::grammar::{Grammar, Pair, Rule};
use super::mend::Meant;
use super::message;
use super::node_head::graph_under_another_word;

impl<'a> Builder<'a> {
    /// The whole file.
    pub fn file(&mut self) -> File {
        let mut items = Vec::new();
        let mut previous = None;
        while let Some(pair) = self.piece(Rule::one_item) {
            if pair.as_rule() == Rule::EOI {
                break;
            }
            if self.stray_member(&pair, &mut items, &mut previous) {
                continue;
            }
            let item = match self.renamed_graph(&pair, &mut previous) {
                Some(graph) => Some(graph),
                None => self.entry(pair, &mut previous, Rule::only_item, Self::item_or_graph),
            };
            if let (Some(Item::Graph(graph)), Some(previous)) = (&item, &mut previous) {
                previous.end = graph.span.end as usize;
            }
            if previous.is_some_and(|previous| previous.replaces) {
                items.pop();
            }
            items.extend(item);
        }
        File {
            doc: self.comments.file_doc(),
            items,
            damaged: std::mem::take(&mut self.damaged),
        }
    }

    /// Reads another item that holds what a graph does as one, which is reported.
    fn renamed_graph(&mut self, pair: &Pair, previous: &mut Option<Previous>) -> Option<Item> {
        let others = [Rule::type_item, Rule::enum_item, Rule::event_item];
        if !others.contains(&pair.as_rule()) {
            return None;
        }
        let span = self.span(pair);
        let (start, end) = (span.start as usize, span.end as usize);
        let slice = self.text.get(start..end)?;
        let found = graph_under_another_word(self, slice, start)?;
        let edit = found.fix.first().cloned();
        if !self.mends((start, end), &found.fix, Rule::only_item) {
            return None;
        }
        self.diags.push(found);
        *previous = Some(Previous {
            start,
            end,
            is_bad: true,
            made: true,
            follows_entry: false,
            replaces: false,
        });
        let meant = Meant { start, edit };
        self.mend(
            (start, end),
            meant,
            Rule::only_item,
            previous,
            Self::item_or_graph,
        )
    }

    /// Reads a member that stands behind the graph before it as one of that graph. The first one is reported.
    fn stray_member(
        &mut self,
        pair: &Pair,
        items: &mut [Item],
        previous: &mut Option<Previous>,
    ) -> bool {
        let (Rule::bad_item, Some(Item::Graph(graph))) = (pair.as_rule(), items.last_mut()) else {
            return false;
        };
        let text = pair.as_str().trim_ascii_end();
        let member = Grammar::parse(Rule::only_member, text).ok();
        let Some(member) = member.and_then(|mut pairs| pairs.next()?.into_inner().next()) else {
            return false;
        };
        let span = self.span(pair);
        let goes_on = previous.is_some_and(|previous| previous.is_bad);
        *previous = Some(Previous {
            start: span.start as usize,
            end: span.end as usize,
            is_bad: true,
            made: false,
            follows_entry: false,
            replaces: false,
        });
        if !goes_on {
            let length = super::message::token(text).len();
            let at = Span::new(self.file, span.start as usize, span.start as usize + length);
            let head: Vec<&str> = text.split_ascii_whitespace().take(2).collect();
            let head = head.join(" ");
            let head = head.trim_end_matches([':', '{', ' ', '-', '>']);
            let message = format!(
                "`{head}` stands behind graph `{}`, not in it",
                graph.name.node
            );
            let end = (graph.span.end as usize).saturating_sub(1);
            self.diags.push(
                Diagnostic::new(&codes::SYNTAX_ERROR, message, at)
                    .label(Span::new(self.file, end, end + 1), "the graph ends here")
                    .help("move it into the graph"),
            );
        }
        let base = std::mem::replace(&mut self.base, span.start as usize);
        let members = self.member(member);
        self.base = base;
        graph.members.extend(members);
        true
    }

    fn item_or_graph(&mut self, pair: Pair) -> Option<Item> {
        match pair.as_rule() {
            Rule::graph_head => self.graph(pair).map(|graph| Item::Graph(Box::new(graph))),
            Rule::graph_item => {
                let graph = self.whole_graph(pair);
                graph.map(|graph| Item::Graph(Box::new(graph)))
            }
            _ => self.item(pair),
        }
    }

    /// A graph that was read as one piece.
    fn whole_graph(&mut self, pair: Pair) -> Option<Graph> {
        let body = pair.clone().into_inner();
        let body = body.into_iter().find(|p| p.as_rule() == Rule::graph_body)?;
        let mut graph = self.graph_head(pair)?;
        let members = self.entries(body.into_inner(), Rule::only_member, |b, pair| {
            Some(b.member(pair))
        });
        graph.members = members.into_iter().flatten().collect();
        Some(graph)
    }

    /// A graph from its head on.
    fn graph(&mut self, head: Pair) -> Option<Graph> {
        let mut graph = self.graph_head(head);
        let mut previous: Option<Previous> = None;
        // How many members there were before the last piece.
        let mut before = 0;
        while let Some(pair) = self.piece(Rule::one_member) {
            if pair.as_rule() == Rule::body_end {
                let end = self.word_span(&pair);
                if let Some(graph) = &mut graph {
                    graph.span = graph.span.to(end);
                }
                break;
            }
            let start = self.begin(&pair);
            let heads = self.heads.len();
            let members = self.entry(pair, &mut previous, Rule::only_member, |b, pair| {
                Some(b.member(pair))
            });
            if let (Some(graph), Some(head)) = (&mut graph, self.heads.last().copied()) {
                // What stands behind a head without braces is the node's.
                if heads < self.heads.len() {
                    let own =
                        |member: &Member| stray(member).is_some_and(|at| at.start as usize > head);
                    graph.members.retain(|member| !own(member));
                    before = graph.members.len();
                } else if self.stands_behind(start, head)
                    && members
                        .iter()
                        .flatten()
                        .any(|member| stray(member).is_some())
                {
                    continue;
                }
            }
            let replaces = previous.is_some_and(|previous| previous.replaces);
            if let (Some(graph), Some(members)) = (&mut graph, members) {
                if replaces {
                    graph.members.truncate(before);
                }
                before = graph.members.len();
                graph.members.extend(members);
            }
        }
        graph
    }

    /// The next piece of the text: what stands for the rule `one`, one of its alternatives.
    /// `None` at the end, or where nothing fits, which is reported.
    fn piece(&mut self, one: Rule) -> Option<Pair<'a>> {
        let rest = self.text.get(self.next..)?;
        match Grammar::parse(one, rest) {
            Ok(mut pairs) => {
                let piece = pairs.next()?;
                self.base = self.next;
                self.next += piece.as_span().end();
                piece.into_inner().next()
            }
            Err(error) => {
                // The scan leaves nothing that the catch-all rules don't take.
                let found = message::expected(rest, self.next, self.file, error);
                self.diags.push(found);
                self.next = self.text.len();
                None
            }
        }
    }
}

/// Where a member stands that is a property of nodes too.
fn stray(member: &Member) -> Option<Span> {
    match member {
        Member::Model(_, at)
        | Member::Tools(_, at)
        | Member::Retry(_, at)
        | Member::Timeout(_, at)
        | Member::OnError(_, at) => Some(*at),
        _ => None,
    }
}
