//! Which declaration a place lies in.

use crate::ast::expr::Expr;
use std::collections::BTreeMap;

use crate::base::{FileId, Span};
use crate::ir::{GraphId, NodeId, ReducerId, ToolId};
use crate::resolve::Program;
use crate::resolve::program::{Ask, Graph, Route, TargetKind, Work};

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
pub struct Ground<'a> {
    /// The program.
    pub program: &'a Program,
    graphs: Pieces<GraphId>,
    nodes: Pieces<NodeId>,
    /// Fields of states, by the places of their names.
    fields: Pieces<Span>,
    conditions: Pieces<()>,
    exits: Pieces<()>,
    tools: Pieces<ToolId>,
    reducers: Pieces<ReducerId>,
    instances: Pieces<()>,
    /// What has names of its own in scope: nodes, tools, prompts, reducers.
    owners: Pieces<()>,
    /// Texts in files of their own: the name of the prompt or node that they are the first text of.
    texts: BTreeMap<FileId, Span>,
}

impl<'a> Ground<'a> {
    /// Sorts the declarations of a program.
    pub fn new(program: &'a Program) -> Self {
        let graphs = || program.graphs.iter();
        let nodes = graphs().flat_map(|graph| graph.nodes.iter().map(|node| node.span));
        let tools = program.tools.iter().map(|tool| tool.span);
        let prompts = program.prompts.iter().map(|prompt| prompt.span);
        let reducers = || {
            let all = program.reducers.entries();
            all.map(|(id, reducer)| (reducer.name.span.to(reducer.body.span), id))
        };
        let owners = nodes.chain(tools).chain(prompts);
        let owners = owners.chain(reducers().map(|(span, _)| span));
        let all = graphs().flat_map(|graph| graph.nodes.entries());
        let fields = graphs().flat_map(|graph| graph.fields.iter());
        let conditions = graphs().flat_map(conditions);
        Self {
            program,
            graphs: Pieces::new(program.graphs.entries().map(|(id, of)| (of.span, id))),
            nodes: Pieces::new(all.map(|(id, node)| (node.span, id))),
            fields: Pieces::new(fields.map(|field| (field.span, field.name.span))),
            conditions: Pieces::new(conditions.map(|expr| (expr.span, ()))),
            exits: Pieces::new(
                graphs()
                    .flat_map(|of| &of.exits)
                    .map(|expr| (expr.span, ())),
            ),
            tools: Pieces::new(program.tools.entries().map(|(id, tool)| (tool.span, id))),
            reducers: Pieces::new(reducers()),
            instances: Pieces::new(program.instances.iter().map(|of| (of.span, ()))),
            owners: Pieces::new(owners.map(|span| (span, ()))),
            texts: texts(program),
        }
    }

    /// The place in the flow's own files: for one in the file of a text, that of what the text belongs to.
    fn here(&self, place: Span) -> Span {
        self.texts.get(&place.file).copied().unwrap_or(place)
    }

    /// The graph.
    pub fn graph(&self, place: Span) -> Option<GraphId> {
        self.graphs.at(self.here(place)).map(|(_, id)| id)
    }

    /// The node of that graph.
    pub fn node(&self, place: Span) -> Option<NodeId> {
        self.nodes.at(self.here(place)).map(|(_, id)| id)
    }

    /// The field of a state, by the place of its name.
    pub fn field(&self, place: Span) -> Option<Span> {
        self.fields.at(place).map(|(_, name)| name)
    }

    /// Whether it is a condition by which a run goes on one way or another.
    pub fn is_condition(&self, place: Span) -> bool {
        self.conditions.at(place).is_some()
    }

    /// Whether it is a condition by which a graph ends.
    pub fn is_exit(&self, place: Span) -> bool {
        self.exits.at(place).is_some()
    }

    /// The tool.
    pub fn tool(&self, place: Span) -> Option<ToolId> {
        self.tools.at(self.here(place)).map(|(_, id)| id)
    }

    /// The declared reducer.
    pub fn reducer(&self, place: Span) -> Option<ReducerId> {
        self.reducers.at(place).map(|(_, id)| id)
    }

    /// Whether it is a declared instance.
    pub fn is_instance(&self, place: Span) -> bool {
        self.instances.at(place).is_some()
    }

    /// All of the node, tool, prompt or reducer.
    pub fn owner(&self, place: Span) -> Option<Span> {
        self.owners.at(self.here(place)).map(|(span, _)| span)
    }
}

/// Files of texts, with the name of what they belong to.
fn texts(program: &Program) -> BTreeMap<FileId, Span> {
    let mut files = BTreeMap::new();
    let mut note = |file: FileId, name: Span| {
        if file != name.file {
            files.entry(file).or_insert(name);
        }
    };
    for prompt in &program.prompts {
        if let Some(text) = &prompt.text {
            note(text.span.file, prompt.name.span);
        }
    }
    for node in program.graphs.iter().flat_map(|graph| &graph.nodes) {
        let words = match &node.work {
            Work::Llm(call) | Work::Agent { call, .. } => {
                vec![call.system.as_ref(), call.prompt.as_ref()]
            }
            Work::Interrupt { ask: Some(ask), .. } => match &**ask {
                Ask::Text(words) => vec![Some(words)],
                _ => Vec::new(),
            },
            _ => Vec::new(),
        };
        let own = words.into_iter().flatten();
        for words in own.filter(|words| words.from.is_none()) {
            note(words.text.span.file, node.name.span);
        }
    }
    files
}

/// Conditions by which a graph's runs go on or not.
fn conditions(graph: &Graph) -> Vec<&Expr> {
    let routes = graph.start.iter().chain(&graph.on_error);
    let own = graph.nodes.iter();
    let routes = routes.chain(own.flat_map(|node| {
        let goto = node.goto.iter().map(|goto| &goto.node);
        goto.chain(node.on_error.as_deref())
    }));
    let arms = routes.clone().flat_map(|route| match route {
        Route::Arms(arms, _) => arms.as_slice(),
        Route::Always(_) => &[],
    });
    let mut all: Vec<&Expr> = arms.filter_map(|arm| arm.when.as_ref()).collect();
    all.extend(&graph.exits);
    for node in &graph.nodes {
        all.extend(node.skips.iter().map(|skip| &skip.when));
        all.extend(node.requires.iter().map(|require| &require.condition));
    }
    let computed = graph.jumps().flat_map(|(_, jump)| &jump.to);
    all.extend(computed.filter_map(|target| match &target.kind {
        TargetKind::Computed(expr) => Some(&**expr),
        TargetKind::Each(each) => Some(&each.items),
        _ => None,
    }));
    all
}
