//! Where names are declared, and how often they stand in the sources.

use std::collections::{BTreeMap, BTreeSet};

use crate::ast::Name;
use crate::base::{FileId, SourceMap, Span};
use crate::diag::Home;
use crate::resolve::program::{Param, Program};

use super::ground::Ground;

/// The names of each home that is no graph, with the declarations they belong to.
pub struct Declared<'a> {
    ground: &'a Ground<'a>,
    homes: BTreeMap<Home, (&'a Name, Vec<&'a Name>)>,
    /// Homes that have the names of another: what a tool takes is in scope of its body.
    same: BTreeMap<Home, Home>,
    /// Top-level names by file.
    items: BTreeMap<(FileId, &'a str), Span>,
    /// Top-level names of all files.
    names: BTreeSet<&'a str>,
}

impl<'a> Declared<'a> {
    /// Looks through the declarations of a program.
    pub fn new(ground: &'a Ground<'a>) -> Self {
        let program: &'a Program = ground.program;
        let mut homes = BTreeMap::new();
        let mut same = BTreeMap::new();
        let names = |params: &'a [Param]| params.iter().map(|param| &param.name).collect();
        for record in &program.records {
            homes.insert(
                Home::Record(record.id.0),
                (&record.name, names(&record.fields)),
            );
        }
        for of in &program.enums {
            homes.insert(Home::Enum(of.id.0), (&of.name, of.members.iter().collect()));
        }
        for tool in &program.tools {
            let scope = Home::Scope(Some(tool.span));
            same.insert(Home::Takes(tool.name.span), scope);
            let reads = tool.body.iter().flat_map(|body| &body.reads);
            let lets = tool.body.iter().flat_map(|body| &body.lets);
            let params = tool.params.iter().chain(reads).map(|param| &param.name);
            let names = params.chain(lets.map(|bound| &bound.name)).collect();
            homes.insert(scope, (&tool.name, names));
        }
        for event in &program.events {
            homes.insert(
                Home::Takes(event.name.span),
                (&event.name, names(&event.fields)),
            );
        }
        for prompt in &program.prompts {
            let scope = Home::Scope(Some(prompt.span));
            same.insert(Home::Takes(prompt.name.span), scope);
            homes.insert(scope, (&prompt.name, names(&prompt.params)));
        }
        for graph in &program.graphs {
            let state = Home::State(Some(graph.name.span));
            same.insert(Home::Record(graph.result.0), state);
            if let Some(record) = graph.params_record {
                let record = Home::Record(record.0);
                same.insert(Home::Takes(graph.name.span), record);
                homes.insert(record, (&graph.name, names(&graph.params)));
            }
            if let Some(context) = &graph.context {
                let names = names(&context.fields);
                homes.insert(Home::Record(context.record.0), (&graph.name, names));
            }
            let leaves = graph.leaves.iter().collect();
            homes.insert(Home::Leaves(Some(graph.name.span)), (&graph.name, leaves));
            for node in &graph.nodes {
                let lets = node.lets.iter().map(|bound| &bound.name).collect();
                homes.insert(Home::Scope(Some(node.span)), (&node.name, lets));
                if let Some(record) = node.input_record {
                    let record = Home::Record(record.0);
                    same.insert(Home::Takes(node.name.span), record);
                    homes.insert(record, (&node.name, names(&node.input)));
                }
            }
        }
        let modules = program.trees.iter();
        let items = modules.flat_map(|tree| tree.items.iter().map(move |item| (tree.file, item)));
        let names = items.filter_map(|(file, item)| Some((file, item.name()?)));
        let mut items: BTreeMap<(FileId, &str), Span> = BTreeMap::new();
        for (file, name) in names {
            items.entry((file, name.as_str())).or_insert(name.span);
        }
        Self {
            ground,
            homes,
            same,
            names: items.keys().map(|(_, name)| *name).collect(),
            items,
        }
    }

    /// Whether a file is part of the standard library.
    pub fn is_standard(&self, file: FileId) -> bool {
        let mut trees = self.ground.program.trees.iter();
        trees.any(|tree| tree.file == file && tree.standard)
    }

    /// The home with the declaration that it belongs to, where that was left to the place of the use.
    pub fn whole(&self, home: Home, at: Span) -> Home {
        // Texts in files of their own lie in no declaration.
        let nowhere = Span::new(at.file, 0, 0);
        let graph = || {
            let graph = self.ground.program.graphs.get(self.ground.graph(at)?)?;
            Some(graph.name.span)
        };
        match home {
            Home::State(None) => Home::State(Some(graph().unwrap_or(nowhere))),
            Home::Nodes(None) => Home::Nodes(Some(graph().unwrap_or(nowhere))),
            Home::Leaves(None) => Home::Leaves(Some(graph().unwrap_or(nowhere))),
            Home::Scope(None) => match self.ground.owner(at) {
                Some(owner) => Home::Scope(Some(owner)),
                None => {
                    let of_graph = self.record_at(at);
                    of_graph.unwrap_or(Home::Scope(Some(graph().unwrap_or(nowhere))))
                }
            },
            home => self.same.get(&home).copied().unwrap_or(home),
        }
    }

    /// The parameters or the context of a graph, where the place is the name of one of them.
    fn record_at(&self, at: Span) -> Option<Home> {
        let graph = self.ground.program.graphs.get(self.ground.graph(at)?)?;
        let before = |param: &&Param| param.span.start <= at.start;
        let context = graph.context.as_ref();
        let fields = context.map_or(&[][..], |context| &context.fields);
        let field = fields.iter().rfind(before).map(|field| field.span.end);
        let param = graph
            .params
            .iter()
            .rfind(before)
            .map(|param| param.span.end);
        if field.is_none() && param.is_none() {
            return None;
        }
        // What is given twice is left out: it stands right behind the one that is not.
        let state = graph.fields.iter().map(|field| field.span.start).min();
        let nodes = graph.nodes.iter().map(|node| node.span.start).min();
        let other = |end: u32| {
            let mut others = [state, nodes].into_iter().flatten();
            others.any(|start| end <= start && start <= at.start)
        };
        match (field, param) {
            (Some(end), param) if param.is_none_or(|param| param < end) && !other(end) => {
                Some(Home::Record(context?.record.0))
            }
            (_, Some(end)) if !other(end) => Some(Home::Record(graph.params_record?.0)),
            _ => None,
        }
    }

    /// The scope of all of the graph, for a name that none of its nodes has.
    pub fn graph_scope(&self, at: Span) -> Option<Home> {
        let graph = self.ground.program.graphs.get(self.ground.graph(at)?)?;
        Some(Home::Scope(Some(graph.name.span)))
    }

    /// The place where a name of a home is declared; `file` is that of its use.
    pub fn find(&self, home: Home, file: FileId, name: &str) -> Option<Span> {
        let graph = |of: Option<Span>| {
            let id = self.ground.graph(of?)?;
            self.ground.program.graphs.get(id)
        };
        match home {
            Home::Items => self.items.get(&(file, name)).copied(),
            Home::State(of) => {
                let graph = graph(of)?;
                Some(graph.fields.get(graph.field(name)?)?.name.span)
            }
            Home::Nodes(of) => {
                let graph = graph(of)?;
                Some(graph.nodes.get(graph.node(name)?)?.name.span)
            }
            home => {
                let (_, names) = self.homes.get(&home)?;
                let found = names.iter().find(|known| known.node == name)?;
                Some(found.span)
            }
        }
    }

    /// Whether nothing outside of its graph, or of its prompt, can know a name of a home: one of a `let`, a prompt's parameter, a
    /// field of the state that is neither taken nor given back.
    pub fn is_inner(&self, home: Home, name: &str) -> bool {
        let program = self.ground.program;
        match home {
            Home::State(Some(at)) => {
                let graph = self.ground.graph(at).and_then(|id| program.graphs.get(id));
                let field = graph.and_then(|graph| graph.fields.get(graph.field(name)?));
                field.is_some_and(|field| !field.mode.is_in() && !field.mode.is_out())
            }
            Home::Scope(Some(at)) => self.ground.tool(at).is_none(),
            _ => false,
        }
    }

    /// Whether some file declares the top-level name.
    pub fn is_item(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// The declaration that a home belongs to, where it is a top-level item.
    pub fn owner(&self, home: Home) -> Option<&Name> {
        match home {
            Home::Record(_) | Home::Enum(_) | Home::Takes(_) | Home::Scope(_) => {
                let (name, _) = self.homes.get(&home)?;
                let item = self.items.get(&(name.span.file, name.as_str()));
                item.filter(|at| **at == name.span).map(|_| *name)
            }
            _ => None,
        }
    }
}

/// How often words stand in the sources outside of comments, those in texts and templates included.
pub fn counts<'w>(
    sources: &SourceMap,
    words: impl Iterator<Item = &'w str>,
) -> BTreeMap<&'w str, Vec<Span>> {
    let mut found: BTreeMap<&str, Vec<Span>> = words.map(|word| (word, Vec::new())).collect();
    if found.is_empty() {
        return found;
    }
    for (file, source) in sources.files() {
        let mut start = 0;
        for line in source.text.split_inclusive('\n') {
            if !line.trim_start().starts_with("//") {
                in_line(line, file, start, &mut found);
            }
            start += line.len();
        }
    }
    found
}

fn in_line(line: &str, file: FileId, start: usize, found: &mut BTreeMap<&str, Vec<Span>>) {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut note = |word: &str, at: usize| {
        if let Some(places) = found.get_mut(word) {
            places.push(Span::new(file, start + at, start + at + word.len()));
        }
    };
    let mut at = 0;
    for piece in line.split_inclusive(|c| !(is_word(c) || c == '.')) {
        let dotted = piece.trim_end_matches(|c| !is_word(c));
        if dotted.contains('.') {
            // Names of events have dots in them.
            note(dotted, at);
        }
        let mut part = at;
        for word in dotted.split('.') {
            note(word, part);
            part += word.len() + 1;
        }
        at += piece.len();
    }
}
