//! What a walk through a graph has found, told once: reads without a value on their ways, and all else in the order declared.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::base::shared::Noted;
use crate::base::{SharedSet, Span};
use crate::diag::{Diagnostic, Diagnostics, Fact, codes};
use crate::ir::node::Persist;
use crate::ir::{FieldId, GraphId, NodeId};
use crate::resolve::program::Work;

use super::super::cfg::exit::{Exits, told};
use super::super::cfg::model::Block;
use super::super::cfg::{BlockId, Transition};
use super::cx::Cx;
use super::facts::Facts;
use super::jump::Behind;
use super::known::Known;
use super::lockstep::{Found, Sought, trail};
use super::node;
use super::paths::{Counts, Paths, Step, Trail};
use super::says::{Conditions, Saying};
use super::unclear::Unclear;
use super::walk::{Typed, Walk};

/// What is asked of an `out` field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// Some way to the end seems to have nothing that may write it.
    Never,
    /// Some way seems not to write it surely.
    Hoped,
    /// It is written behind a join that is waited at in vain at times: only what a whole run shows counts.
    Behind,
}

/// What came of an `out` field that some way seems not to write.
pub enum Left<'a> {
    /// A run can take a way without any writer; the way, where it could be followed.
    Never(Vec<Step<'a>>),
    /// A run can take one where it is not sure that it is written.
    Perhaps(Vec<Step<'a>>),
    /// There is too much to be told apart on its ways.
    TooMuch,
    /// The conditions on all of these ways exclude each other.
    Written,
}

/// What came of a read of a field that some way seems to come to without a value.
enum Answer {
    /// A run comes to it so, on this way where it could be followed.
    Unset(Trail),
    /// It may.
    Perhaps(Doubt),
    /// None does.
    Never,
}

/// What came of following whole runs.
enum Whole<'a> {
    /// A run comes there without the field.
    Without(Vec<Step<'a>>),
    /// None does.
    Never,
    /// That can't be told.
    Unclear,
}

/// Why it is not sure that a field has a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Doubt {
    /// A model, a list or a called graph decides.
    Decided,
    /// Tasks beside do.
    Beside,
    /// There is too much to be told apart.
    TooMuch,
    /// It is asked for behind each super-step.
    Always,
}

impl<'a> Walk<'a> {
    /// Types what no run comes to, and gathers all findings in the order declared. `asked` are `out` fields that
    /// some way seems not to write.
    pub(super) fn finish(
        mut self,
        asked: &[(FieldId, Asked)],
        diags: &mut Diagnostics,
    ) -> Typed<'a> {
        for id in self.cfg.nodes.ids() {
            if self.entries.get(id.0 as usize).is_some_and(Option::is_none) {
                self.type_node(id, Facts::default(), None);
                if let Some(Some(seen)) = self.seen.get_mut(id.0 as usize) {
                    seen.diags.retain(is_proven);
                }
            }
        }
        let left = self.report_lacking(asked, diags);
        let mut typed = Typed {
            read: self.read,
            left,
            ..Typed::default()
        };
        for seen in self.seen {
            let seen = seen.map(|seen| *seen).unwrap_or_default();
            diags.append(seen.diags);
            typed.computed.push(seen.computed);
        }
        let (graph, program) = (self.graph, self.program);
        for (id, seen) in self.joined.entries() {
            let brought = self.brought.get(id).into_iter().flatten();
            if brought.flatten().next().is_none()
                && let Some(join) = graph.joins.get(id)
            {
                let mut cx = Cx::in_graph(program, graph, &self.state, Facts::default());
                cx.jump(&join.to, &mut Behind::new());
                cx.diags.retain(is_proven);
                diags.append(cx.diags);
            } else if let Some(seen) = seen {
                diags.append(seen.diags.clone());
            }
        }
        typed
    }

    /// Reports reads of fields without a value, where a run can come to them so. Gives back what came
    /// of the `out` fields asked for.
    fn report_lacking(&self, asked: &[(FieldId, Asked)], diags: &mut Diagnostics) -> Vec<Left<'a>> {
        let nodes = self.cfg.nodes.ids().map(BlockId::Node).zip(&self.seen);
        let joins = self.cfg.joins.ids().map(BlockId::Join).zip(&self.joined);
        let mut reads: Vec<(BlockId, FieldId, Span, Counts)> = Vec::new();
        for (block, seen) in nodes.chain(joins) {
            let Some(seen) = seen else { continue };
            let lacking = seen.lacking.iter().map(|read| (read, Counts::May));
            let unsure = seen.unsure.iter().map(|read| (read, Counts::Sure));
            let all = lacking.chain(unsure);
            reads.extend(all.map(|((field, read), counts)| (block, *field, *read, counts)));
        }
        if reads.is_empty() && asked.is_empty() {
            return Vec::new();
        }
        let mut readers: BTreeMap<FieldId, Vec<BlockId>> = BTreeMap::new();
        for (block, field, ..) in &reads {
            readers.entry(*field).or_default().push(*block);
        }
        let paths = self.paths(readers);
        let first = paths.at_start(&self.program.types);
        let mut unclear = Unclear::default();
        for (block, field, read, counts) in reads {
            let Some(declared) = self.graph.fields.get(field) else {
                continue;
            };
            let answer = self.answer((&paths, &first), (block, field, read), counts);
            let of = (field, declared);
            let types = &self.program.types;
            match answer {
                Answer::Never => {}
                Answer::Unset(trail) => {
                    let found = self
                        .trails
                        .report(self.cfg, types, (block, trail), of, read);
                    diags.push(found);
                }
                Answer::Perhaps(Doubt::TooMuch) => unclear.add(field, read),
                Answer::Perhaps(doubt) => {
                    let shown = types.show(&declared.ty.node).to_string();
                    diags.push(may_be_unset(&declared.name, &shown, read, doubt));
                }
            }
        }
        unclear.report(self.graph, &self.program.types, diags);
        let left = asked.iter().map(|(field, asked)| {
            let transition = match asked {
                Asked::Never => paths.avoids(&first, *field, Counts::May),
                Asked::Hoped => None,
                Asked::Behind if self.passing.all.contains(field) => return Left::Written,
                Asked::Behind => {
                    return match paths.lockstep(&first, (*field, Counts::May), Sought::End) {
                        Found::Run(run) => Left::Never(run),
                        _ => Left::Written,
                    };
                }
            };
            let (told, transition) = match transition {
                Some(told) if told.sure => return Left::Never(told.transition),
                Some(told) => (false, told.transition),
                None => match paths.avoids(&first, *field, Counts::Sure) {
                    Some(told) => (told.sure, told.transition),
                    None => return Left::Written,
                },
            };
            match self.whole_run((&paths, &first), *field, Sought::End) {
                Whole::Without(run) => Left::Never(run),
                Whole::Never => Left::Written,
                Whole::Unclear if told => Left::Perhaps(transition),
                Whole::Unclear => Left::TooMuch,
            }
        });
        left.collect()
    }

    /// Whether a field has a value where it is read.
    fn answer(
        &self,
        (paths, first): (&Paths<'_, 'a>, &Known),
        (block, field, read): (BlockId, FieldId, Span),
        counts: Counts,
    ) -> Answer {
        let of = (block, field, read);
        // An `ephemeral` field may have had a value that is gone.
        if self.passing.all.contains(&field) {
            if self.passing.fades(field) {
                match self.whole_run((paths, first), field, Sought::Read(block, read)) {
                    Whole::Without(run) => return Answer::Unset(trail(&run)),
                    Whole::Never => return Answer::Never,
                    Whole::Unclear => {}
                }
            }
            return match counts {
                Counts::May => Answer::Unset(Vec::new()),
                Counts::Sure => Answer::Perhaps(self.doubt(field)),
            };
        }
        if paths.kept {
            // What an earlier call has left, and the field not among it.
            if let Some(told) = paths.lacks_later(first, of).filter(|told| told.sure) {
                return Answer::Unset(told.transition);
            }
        }
        let may = match counts {
            Counts::May => paths.lacks(first, of, Counts::May),
            Counts::Sure => None,
        };
        let told = match may {
            Some(told) if told.sure => return Answer::Unset(told.transition),
            Some(told) => told,
            None => match paths.lacks(first, of, Counts::Sure) {
                Some(told) => told,
                None => return Answer::Never,
            },
        };
        match self.whole_run((paths, first), field, Sought::Read(block, read)) {
            Whole::Without(run) => Answer::Unset(trail(&run)),
            Whole::Never => Answer::Never,
            Whole::Unclear if told.sure => Answer::Perhaps(self.doubt(field)),
            Whole::Unclear => Answer::Perhaps(Doubt::TooMuch),
        }
    }

    /// Whether a whole run comes to what is sought without the field.
    fn whole_run(
        &self,
        (paths, first): (&Paths<'_, 'a>, &Known),
        field: FieldId,
        sought: Sought,
    ) -> Whole<'a> {
        if self.passing.all.contains(&field)
            && !(self.passing.fades(field) && sought != Sought::End)
        {
            return Whole::Unclear;
        }
        if let Found::Run(run) = paths.lockstep(first, (field, Counts::May), sought) {
            return Whole::Without(run);
        }
        match paths.lockstep(first, (field, Counts::Sure), sought) {
            Found::Never => Whole::Never,
            _ => Whole::Unclear,
        }
    }

    /// Why it is not sure whether a field is written in time.
    fn doubt(&self, field: FieldId) -> Doubt {
        let sent = self
            .cfg
            .blocks()
            .flat_map(|block| self.cfg.transitions(block));
        let sent = sent
            .chain(&self.cfg.start)
            .flat_map(|transition| &transition.successors);
        let sent: BTreeSet<BlockId> = sent
            .filter(|successor| successor.many)
            .map(|successor| successor.to)
            .collect();
        let decided = |(id, node): (NodeId, &Block)| {
            let work = self.graph.nodes.get(id).map(|node| &node.work);
            let asks = matches!(
                work,
                Some(Work::Agent { .. } | Work::Tools { .. } | Work::Subgraph { .. })
            );
            let mut writes = node.writes.iter();
            (asks || sent.contains(&BlockId::Node(id))) && writes.any(|write| write.field == field)
        };
        match self.cfg.nodes.entries().any(decided) {
            true => Doubt::Decided,
            false => Doubt::Beside,
        }
    }

    /// All that is said on the ways of the graph: each node is read once more.
    fn paths(&self, readers: BTreeMap<FieldId, Vec<BlockId>>) -> Paths<'_, 'a> {
        let mut conditions = Conditions::default();
        let mut cx = self.cx(Facts::at_start(self.graph));
        cx.saying = Some(Saying::default());
        if let Some(route) = &self.graph.start {
            cx.route(route, &mut Behind::new());
        }
        let graph = self.graph;
        let told = told(self.program, graph, self.cfg);
        let exits: Vec<Vec<super::says::Fact>> =
            told.iter().map(|when| cx.says(when, true)).collect();
        let goes_on = told.iter().map(|when| cx.says(when, false));
        let goes_on = goes_on.flatten().collect();
        let start = said(cx, &mut conditions);
        let mut nodes = Vec::new();
        let mut noted = Noted::default();
        for id in self.cfg.nodes.ids() {
            nodes.push(self.said_by(id, &mut conditions, &mut noted));
        }
        let joins = self.graph.joins.iter().map(|join| {
            let mut cx = self.cx(Facts::default());
            cx.saying = Some(Saying::default());
            cx.jump(&join.to, &mut Behind::new());
            said(cx, &mut Conditions::default())
        });
        let at_once = self.entries.iter().zip(self.cfg.nodes.iter());
        let at_once = at_once.map(|(entry, node)| match entry {
            Some(entry) if !node.branch => self
                .sure
                .written_beside(&entry.company)
                .into_iter()
                .collect(),
            _ => SharedSet::new(),
        });
        let mut paths = Paths {
            graph: self.graph,
            cfg: self.cfg,
            effects: self.effects,
            start,
            nodes,
            joins: joins.collect(),
            beside: &self.beside,
            at_once: at_once.collect(),
            circles: &self.circles,
            order: &self.order,
            readers,
            passing: &self.passing.all,
            exits,
            ends: Exits::of(self.program, graph, self.cfg),
            goes_on,
            kept: self.is_kept(),
            fields: BTreeMap::new(),
            places: BTreeMap::new(),
            resets: BTreeMap::new(),
            explored: RefCell::default(),
            spent: Cell::new(0),
            stepped: Cell::new(0),
        };
        paths.gather();
        paths
    }

    /// Whether some node calls the graph with `persist thread`: then it begins with what it had at its last end.
    fn is_kept(&self) -> bool {
        let program = self.program;
        let own = |id: &GraphId| {
            let called = program.graphs.get(*id);
            called.is_some_and(|called| std::ptr::eq(called, self.graph))
        };
        let mut nodes = program.graphs.iter().flat_map(|graph| &graph.nodes);
        nodes.any(|node| match &node.work {
            Work::Subgraph { graph, persist, .. } => {
                *persist == Persist::Thread && graph.as_ref().is_some_and(own)
            }
            _ => false,
        })
    }

    fn said_by(
        &self,
        id: NodeId,
        conditions: &mut Conditions,
        noted: &mut Noted<Arc<str>>,
    ) -> Saying {
        let (Some(declared), Some(entry)) = (
            self.graph.nodes.get(id),
            self.entries.get(id.0 as usize).and_then(Option::as_ref),
        ) else {
            return Saying::default();
        };
        let mut cx = self.cx_of(
            id,
            declared,
            entry.facts.clone(),
            entry.again.as_deref().cloned(),
        );
        cx.saying = Some(Saying {
            conditions: std::mem::take(conditions),
            ..Saying::default()
        });
        let out = node::node(&mut cx, id, declared);
        let mut said = said(cx, conditions);
        // What is known not to be null on all ways is so on each.
        for (span, facts) in &out.behind {
            said.known.insert(*span, self.not_null(facts, noted));
        }
        if declared.edges.len() > 1 {
            // Which of their updates is the last one is not followed.
            declared.edges.iter().for_each(|jump| {
                said.sets.remove(&jump.span);
                said.known.remove(&jump.span);
            });
        } else if !matches!(declared.work, Work::Branch) {
            let known = self.not_null(&out.edge, noted);
            let edge = self.cfg.transitions(BlockId::Node(id)).iter();
            let edge = edge.filter(|transition: &&Transition| {
                transition.kind == super::super::cfg::EdgeKind::Edge
            });
            for transition in edge {
                said.known.entry(transition.span).or_default().join(&known);
            }
        }
        said
    }

    /// Fields that are known not to be null, but for those of which nothing is kept from step to step.
    fn not_null(&self, facts: &Facts, noted: &mut Noted<Arc<str>>) -> SharedSet<Arc<str>> {
        let field = |place: &Arc<str>| {
            let id = self.graph.field(place.strip_prefix("state.")?)?;
            (!self.passing.all.contains(&id)).then_some(id)
        };
        let paths = facts.known.paths();
        paths.chosen(noted, &|place| field(place).is_some())
    }
}

/// Whether a finding holds whatever was shown on the way: where no way is, what was to lead there may have shown anything.
fn is_proven(found: &Diagnostic) -> bool {
    !found.facts.contains(&Fact::Unproven)
}

fn said(cx: Cx, conditions: &mut Conditions) -> Saying {
    let mut said = cx.saying.unwrap_or_default();
    *conditions = std::mem::take(&mut said.conditions);
    said
}

/// A read of a field of which it is not sure that it has a value.
pub(super) fn may_be_unset(
    name: &crate::ast::Name,
    shown: &str,
    read: Span,
    doubt: Doubt,
) -> Diagnostic {
    let message = format!("`state.{}` may have no value yet", name.node);
    let here = match doubt {
        Doubt::Decided => {
            "it is up to a model, a list or a called graph whether it is written before"
        }
        Doubt::Beside => "it is up to the tasks beside whether it is written before",
        Doubt::TooMuch => "there is too much to be told apart on the ways to here to be sure of it",
        Doubt::Always => "this is asked behind each super-step, the first one too",
    };
    Diagnostic::new(&codes::MAYBE_UNSET, message, read)
        .about(name.span)
        .here(here)
        .label(name.span, "declared without a first value")
        .help(format!(
            "write it before, or give it a first value: `= ..` behind its type, or the type `{shown}?`"
        ))
}
