//! Which declaration a place lies in.

use std::collections::BTreeMap;

use crate::base::Span;
use crate::diag::Home;
use crate::expr::ty::RecordId;
use crate::ir::GraphId;
use crate::resolve::Program;

/// Pieces of the sources that don't overlap, each with what it is.
struct Pieces<T>(Vec<(Span, T)>);

impl<T: Copy> Pieces<T> {
    fn new(pieces: impl Iterator<Item = (Span, T)>) -> Self {
        let mut pieces: Vec<(Span, T)> = pieces.collect();
        pieces.sort_by_key(|(span, _)| *span);
        Self(pieces)
    }

    fn at(&self, place: Span) -> Option<(Span, T)> {
        let before = |span: &Span| (span.file, span.start) <= (place.file, place.start);
        let after = self.0.partition_point(|(span, _)| before(span));
        let (span, of) = self.0.get(after.checked_sub(1)?)?;
        (span.file == place.file && place.start < span.end).then_some((*span, *of))
    }
}

/// The declarations of a program by their places.
pub struct Places {
    graphs: Pieces<GraphId>,
    /// Graphs, and all other declarations with a body.
    items: Pieces<()>,
    /// Records, enums and what has names like a record, by their home.
    homes: BTreeMap<Home, Span>,
}

impl Places {
    /// Sorts the declarations of a program.
    pub fn new(program: &Program) -> Self {
        let mut homes = BTreeMap::new();
        let mut record = |id: RecordId, span| homes.insert(Home::Record(id.0), span);
        for of in &program.records {
            record(of.id, of.span);
        }
        for graph in &program.graphs {
            let context = graph.context.as_ref().map(|of| of.record);
            for id in [Some(graph.result), graph.params_record, context]
                .into_iter()
                .flatten()
            {
                record(id, graph.span);
            }
            for node in &graph.nodes {
                if let Some(id) = node.input_record {
                    record(id, node.span);
                }
            }
        }
        homes.extend(
            program
                .enums
                .iter()
                .map(|of| (Home::Enum(of.id.0), of.span)),
        );
        let events = program.events.iter().map(|of| {
            let last = of.fields.last().map_or(of.name.span, |field| field.span);
            of.name.span.to(last)
        });
        let reducers = program
            .reducers
            .iter()
            .map(|of| of.name.span.to(of.body.span));
        let items = program.graphs.iter().map(|of| of.span);
        let items = items.chain(program.tools.iter().map(|of| of.span));
        let items = items
            .chain(program.prompts.iter().map(|of| of.span))
            .chain(reducers);
        let items = items
            .chain(program.records.iter().map(|of| of.span))
            .chain(events);
        Self {
            graphs: Pieces::new(program.graphs.entries().map(|(id, of)| (of.span, id))),
            items: Pieces::new(items.map(|span| (span, ()))),
            homes,
        }
    }

    /// The graph.
    pub fn graph(&self, place: Span) -> Option<GraphId> {
        self.graphs.at(place).map(|(_, id)| id)
    }

    /// All of the graph, tool, prompt, reducer or type.
    pub fn item(&self, place: Span) -> Option<Span> {
        self.items.at(place).map(|(span, ())| span)
    }

    /// The declaration that has the names of a home, where it is one of the program and not all of a file; `at` is where one of the names is used.
    pub fn home(&self, home: Home, at: Span) -> Option<Span> {
        match home {
            Home::Items => None,
            Home::State(of) | Home::Nodes(of) | Home::Leaves(of) | Home::Scope(of) => {
                self.item(of.unwrap_or(at))
            }
            Home::Takes(of) => self.item(of),
            Home::Record(_) | Home::Enum(_) => self.homes.get(&home).copied(),
        }
    }
}
