//! First pass: every top-level name of every file gets its id, then imports are bound.
//!
//! Types, graphs, tools, models and events are known by their names outside a file too (in
//! expressions at run time, in `graphc.yaml`, in streams), so they are unique in the whole flow.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::mem::{Discriminant, discriminant};

use crate::ast::Name;
use crate::ast::item::{Item, TypeBody};
use crate::base::{FileId, Span, name};
use crate::diag::{Diagnostic, codes};
use crate::expr::ty::{EnumId, EnumType, Record, RecordId};
use crate::ir::{EventId, GraphId, ModelId, ReducerId, ToolId};

use super::Resolver;
use super::names::{Definition, Symbol};
use super::naming::Style;
use super::program::PromptId;
use super::stdlib;

/// How many of each kind have an id.
type Counts = HashMap<Discriminant<Item>, u32>;

/// Names that all files of a flow share.
#[derive(Default)]
pub(super) struct Shared {
    /// Where each is first declared.
    first: BTreeMap<String, Span>,
    /// What is to be said of those that another file declares again.
    twice: Vec<(String, Diagnostic)>,
    /// Names that some file imports although it has them.
    pub(super) clashing: BTreeSet<String>,
}

impl Resolver<'_> {
    /// Gives every declared name its id, in the order of files and items: the order in which the
    /// second pass fills the program's vectors.
    pub fn declare(&mut self) {
        let mut counts = Counts::default();
        let mut shared = Shared::default();
        for file in self.files {
            self.names.push(BTreeMap::new());
            for item in &file.ast.items {
                let Some(name) = item.name() else {
                    continue;
                };
                let mut thing = self.thing(item, &mut counts);
                let is_type = matches!(
                    thing,
                    Definition::Record(_) | Definition::Enum(_) | Definition::Alias(_)
                );
                if !(is_type && self.is_built_in(name)) {
                    self.check_style(name, style(item));
                }
                if matches!(item, Item::Function(_))
                    && !(file.standard || stdlib::declares(&file.path, name))
                {
                    let message = format!(
                        "only the standard library declares functions, found `{}`",
                        name.node
                    );
                    let help = format!(
                        "what a program or a model calls is a tool, `tool {}(..)`; else repeat the expression",
                        name.node
                    );
                    self.report(&codes::UNSUPPORTED, message, name.span, help);
                    // What it was to be is not known where it is used.
                    thing = Definition::Broken;
                }
                let fresh = self.enter(file.id, name, thing, false);
                if fresh && is_shared(thing) {
                    self.enter_shared(&mut shared, name);
                }
            }
        }
        for file in self.files {
            self.bind_imports(file.id, &mut shared);
        }
        // A file that imports a name and declares it too has been told so already.
        for (name, found) in shared.twice {
            if !shared.clashing.contains(&name) {
                self.diags.push(found);
            }
        }
    }

    fn thing(&mut self, item: &Item, counts: &mut Counts) -> Definition {
        if let Item::Type(decl) = item
            && let TypeBody::Record(_) = decl.body
        {
            return Definition::Record(self.new_record(&decl.name.node, &decl.doc));
        }
        let count = counts.entry(discriminant(item)).or_default();
        let next = *count;
        *count += 1;
        let index = next as usize;
        match item {
            Item::Type(_) => Definition::Alias(index),
            Item::Enum(decl) => Definition::Enum(self.new_enum(&decl.name.node, &decl.doc)),
            Item::Reducer(_) => Definition::Reducer(ReducerId(next)),
            Item::Event(_) => Definition::Event(EventId(next)),
            Item::Model(_) => Definition::Model(ModelId(next)),
            Item::Tool(_) => Definition::Tool(ToolId(next)),
            Item::Toolset(_) => Definition::Toolset(index),
            Item::Retry(_) => Definition::Policy(index),
            Item::Prompt(_) => Definition::Prompt(PromptId(next)),
            Item::Graph(_) => Definition::Graph(GraphId(next)),
            Item::Function(_) => Definition::Function,
            Item::Instance(_) => Definition::Instance(index),
            Item::Import(_) => Definition::Broken,
        }
    }

    /// An empty record of the type table; its fields come with the second pass.
    pub fn new_record(&mut self, name: &str, doc: &str) -> RecordId {
        self.program.types.records.push(Record {
            name: name.to_owned(),
            doc: doc.to_owned(),
            fields: Vec::new(),
            index: Default::default(),
        })
    }

    pub(super) fn new_enum(&mut self, name: &str, doc: &str) -> EnumId {
        self.program.types.enums.push(EnumType {
            name: name.to_owned(),
            doc: doc.to_owned(),
            members: Vec::new(),
        })
    }

    /// Adds a name to a file's names. `false`, and reported, where it is taken.
    pub(super) fn enter(
        &mut self,
        file: FileId,
        name: &Name,
        thing: Definition,
        imported: bool,
    ) -> bool {
        let Some(names) = self.names.get_mut(file.0 as usize) else {
            return false;
        };
        if let Some(first) = names.get(&name.node) {
            let message = format!("`{}` is declared twice", name.node);
            let diagnostic = Diagnostic::new(&codes::DUPLICATE_NAME, message, name.span)
                .here("declared again")
                .label(first.span, "first declared here")
                .help("rename one of the two, or take it out");
            // Which of the two a use means nobody knows.
            if let Some(first) = names
                .get_mut(&name.node)
                .filter(|first| imported != first.imported)
            {
                first.thing = Definition::Broken;
            }
            self.diags.push(diagnostic);
            return false;
        }
        let entry = Symbol {
            thing,
            span: name.span,
            imported,
        };
        names.insert(name.node.clone(), entry);
        true
    }

    /// Adds a name to those that all files share.
    pub(super) fn enter_shared(&mut self, shared: &mut Shared, name: &Name) {
        if let Some(first) = shared.first.get(&name.node) {
            let message = format!("`{}` is declared in two files of this flow", name.node);
            let diagnostic = Diagnostic::new(&codes::DUPLICATE_NAME, message, name.span)
                .here("declared again")
                .label(*first, "first declared here")
                .help("types, graphs, tools, models and events have one name in all files of a flow: rename one of them, or import it");
            shared.twice.push((name.node.clone(), diagnostic));
        } else {
            shared.first.insert(name.node.clone(), name.span);
        }
    }

    /// Whether a declared type has the name of a built-in one, which is reported.
    fn is_built_in(&mut self, name: &Name) -> bool {
        if !super::types::BUILT_IN.contains(&name.node.as_str()) {
            return false;
        }
        let message = format!("`{}` is a built-in type", name.node);
        let diagnostic = Diagnostic::new(&codes::RESERVED_NAME, message, name.span).help(format!(
            "built in are {}",
            name::list(super::types::BUILT_IN.iter().copied())
        ));
        self.diags.push(diagnostic);
        true
    }
}

fn is_shared(thing: Definition) -> bool {
    matches!(
        thing,
        Definition::Record(_)
            | Definition::Enum(_)
            | Definition::Graph(_)
            | Definition::Instance(_)
            | Definition::Tool(_)
            | Definition::Model(_)
            | Definition::Event(_)
    )
}

fn style(item: &Item) -> Style {
    match item {
        Item::Type(_) | Item::Enum(_) | Item::Graph(_) | Item::Instance(_) => Style::Camel,
        _ => Style::Snake,
    }
}
