//! What a module declares, as its text says it.

use crate::ast::graph::{Graph, Member};
use crate::ast::item::{Item, TypeBody};
use crate::ast::ty::Field;
use crate::base::{SourceMap, Span};

/// One item that can be imported.
pub struct Entry {
    /// The word that declares it: `graph`, `type`, ..
    pub kind: &'static str,
    /// Its name.
    pub name: String,
    /// How it is declared, on one line, without what it is made of.
    pub signature: String,
    /// Doc comment.
    pub doc: String,
    /// Its parts by what they are: parameters, fields.
    pub parts: Vec<(&'static str, Vec<Part>)>,
}

/// A parameter or a field.
pub struct Part {
    /// As declared.
    pub text: String,
    /// Doc comment.
    pub doc: String,
}

/// The items of a module, imports left out, graphs first.
pub fn of_items(items: &[Item], sources: &SourceMap) -> Vec<Entry> {
    let reader = Reader(sources);
    let mut entries: Vec<Entry> = items.iter().filter_map(|item| reader.entry(item)).collect();
    entries.sort_by_key(|entry| entry.kind != "graph");
    entries
}

struct Reader<'s>(&'s SourceMap);

impl Reader<'_> {
    fn entry(&self, item: &Item) -> Option<Entry> {
        let name = item.name()?.node.clone();
        let (kind, doc) = about(item)?;
        let (signature, parts) = self.declared(item);
        let parts = parts.into_iter().filter(|(_, parts)| !parts.is_empty());
        Some(Entry {
            kind,
            signature: match signature {
                Some(whole) => self.line(whole),
                None => format!("{kind} {name}"),
            },
            name,
            doc: doc.clone(),
            parts: parts.collect(),
        })
    }

    /// Where the declaration is written that fits a line, if it does, and the parts.
    fn declared(&self, item: &Item) -> (Option<Span>, Vec<(&'static str, Vec<Part>)>) {
        match item {
            Item::Type(decl) => match &decl.body {
                TypeBody::Record(fields) => (None, vec![("fields", self.fields(fields))]),
                TypeBody::Alias(_) => (Some(decl.span), Vec::new()),
            },
            Item::Enum(decl) => {
                let members = decl.members.iter().map(|member| Part {
                    text: member.name.node.clone(),
                    doc: member.doc.clone(),
                });
                (None, vec![("members", members.collect())])
            }
            Item::Event(decl) => (None, vec![("fields", self.fields(&decl.fields))]),
            Item::Tool(decl) => {
                let returns = decl.returns.iter().map(|ty| Part {
                    text: self.line(ty.span),
                    doc: String::new(),
                });
                let parts = vec![
                    ("parameters", self.fields(&decl.params)),
                    ("result", returns.collect()),
                ];
                (None, parts)
            }
            Item::Prompt(decl) => (None, vec![("parameters", self.fields(&decl.params))]),
            Item::Graph(graph) => (None, self.graph(graph)),
            Item::Reducer(decl) => (Some(decl.span), Vec::new()),
            Item::Function(decl) => (Some(decl.span), Vec::new()),
            Item::Model(decl) => (Some(decl.span), Vec::new()),
            Item::Toolset(decl) => (Some(decl.span), Vec::new()),
            Item::Instance(decl) => (Some(decl.span), Vec::new()),
            Item::Retry(_) | Item::Import(_) => (None, Vec::new()),
        }
    }

    fn graph(&self, graph: &Graph) -> Vec<(&'static str, Vec<Part>)> {
        let mut state = Vec::new();
        let mut context = Vec::new();
        for member in &graph.members {
            match member {
                Member::State(fields, _) => {
                    let shared = fields.iter().filter(|field| field.input || field.output);
                    state.extend(shared.map(|field| self.part(field.span, &field.doc)));
                }
                Member::Context(fields, _) => context.extend(self.fields(fields)),
                _ => {}
            }
        }
        let leaves = graph.leaves.iter().map(|name| Part {
            text: name.node.clone(),
            doc: String::new(),
        });
        vec![
            ("parameters", self.fields(&graph.params)),
            ("leaves", leaves.collect()),
            ("context", context),
            ("state", state),
        ]
    }

    fn fields(&self, fields: &[Field]) -> Vec<Part> {
        let parts = fields.iter();
        parts
            .map(|field| self.part(field.span, &field.doc))
            .collect()
    }

    fn part(&self, span: Span, doc: &str) -> Part {
        Part {
            text: self.line(span),
            doc: doc.to_owned(),
        }
    }

    /// What stands there, on one line and without comments.
    fn line(&self, span: Span) -> String {
        let text = self.0.text(span);
        let lines = text
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"));
        let words: Vec<&str> = lines.flat_map(str::split_whitespace).collect();
        words.join(" ")
    }
}

/// The word that declares an item, and its doc comment; `None` for an import.
fn about(item: &Item) -> Option<(&'static str, &String)> {
    Some(match item {
        Item::Import(_) | Item::Retry(_) => return None,
        Item::Type(decl) => ("type", &decl.doc),
        Item::Enum(decl) => ("enum", &decl.doc),
        Item::Reducer(decl) => ("reducer", &decl.doc),
        Item::Event(decl) => ("event", &decl.doc),
        Item::Model(decl) => ("model", &decl.doc),
        Item::Tool(decl) => ("tool", &decl.doc),
        Item::Toolset(decl) => ("toolset", &decl.doc),
        Item::Prompt(decl) => ("prompt", &decl.doc),
        Item::Graph(decl) => ("graph", &decl.doc),
        Item::Instance(decl) => ("graph", &decl.doc),
        Item::Function(decl) => ("function", &decl.doc),
    })
}
