//! What a name of a file means, and what is said about one that means nothing.

use std::collections::BTreeMap;

use crate::ast::Name;
use crate::base::{FileId, Span, foreign, name};
use crate::diag::{Code, Diagnostic, Home, codes};
use crate::expr::ty::{EnumId, RecordId};
use crate::ir::{EventId, GraphId, ModelId, ReducerId, ToolId};

use super::Resolver;
use super::program::{PromptId, Reference};

/// What a top-level name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Definition {
    Record(RecordId),
    Enum(EnumId),
    /// Position among the aliases of the flow.
    Alias(usize),
    Reducer(ReducerId),
    Event(EventId),
    Model(ModelId),
    Tool(ToolId),
    /// Position among the toolsets of the flow.
    Toolset(usize),
    /// Position among the retry policies of the flow.
    Policy(usize),
    Prompt(PromptId),
    Graph(GraphId),
    /// Position among the declared instances of the flow.
    Instance(usize),
    Function,
    /// Something that is reported where it is declared.
    Broken,
}

impl Definition {
    /// With its article, for messages.
    pub(super) fn noun(self) -> &'static str {
        match self {
            Definition::Record(_) | Definition::Alias(_) => "a type",
            Definition::Enum(_) => "an enum",
            Definition::Reducer(_) => "a reducer",
            Definition::Event(_) => "an event",
            Definition::Model(_) => "a model",
            Definition::Tool(_) => "a tool",
            Definition::Toolset(_) => "a toolset",
            Definition::Policy(_) => "a retry policy",
            Definition::Prompt(_) => "a prompt",
            Definition::Graph(_) | Definition::Instance(_) => "a graph",
            Definition::Function => "a function",
            Definition::Broken => "a name",
        }
    }
}

/// What a place asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    Type,
    Reducer,
    Event,
    Model,
    Tool,
    /// A tool or a toolset.
    Tools,
    Policy,
    Prompt,
    Graph,
}

impl Wanted {
    pub(super) fn takes(self, thing: Definition) -> bool {
        match self {
            Wanted::Type => matches!(
                thing,
                Definition::Record(_) | Definition::Enum(_) | Definition::Alias(_)
            ),
            Wanted::Reducer => matches!(thing, Definition::Reducer(_)),
            Wanted::Event => matches!(thing, Definition::Event(_)),
            Wanted::Model => matches!(thing, Definition::Model(_)),
            Wanted::Tool => matches!(thing, Definition::Tool(_)),
            Wanted::Tools => matches!(thing, Definition::Tool(_) | Definition::Toolset(_)),
            Wanted::Policy => matches!(thing, Definition::Policy(_)),
            Wanted::Prompt => matches!(thing, Definition::Prompt(_)),
            Wanted::Graph => matches!(thing, Definition::Graph(_) | Definition::Instance(_)),
        }
    }

    pub(super) fn noun(self) -> &'static str {
        match self {
            Wanted::Type => "type",
            Wanted::Reducer => "reducer",
            Wanted::Event => "event",
            Wanted::Model => "model",
            Wanted::Tool => "tool",
            Wanted::Tools => "tool or toolset",
            Wanted::Policy => "retry policy",
            Wanted::Prompt => "prompt",
            Wanted::Graph => "graph",
        }
    }

    /// The word that a declaration begins with.
    fn keyword(self) -> &'static str {
        match self {
            Wanted::Policy => "retry",
            Wanted::Tools => "tool",
            other => other.noun(),
        }
    }

    pub(super) fn code(self) -> &'static Code {
        match self {
            Wanted::Type => &codes::UNKNOWN_TYPE,
            Wanted::Reducer => &codes::UNKNOWN_REDUCER,
            Wanted::Event => &codes::UNKNOWN_EVENT,
            Wanted::Model => &codes::UNKNOWN_MODEL,
            Wanted::Tool | Wanted::Tools => &codes::UNKNOWN_TOOL,
            Wanted::Policy => &codes::UNKNOWN_RETRY,
            Wanted::Prompt => &codes::UNKNOWN_PROMPT,
            Wanted::Graph => &codes::UNKNOWN_GRAPH,
        }
    }

    /// Names of the language itself that fit here.
    fn built_in(self) -> &'static [&'static str] {
        match self {
            Wanted::Type => super::types::BUILT_IN,
            Wanted::Reducer => super::channel::BUILT_IN,
            _ => &[],
        }
    }
}

/// One name of a file.
#[derive(Debug, Clone)]
pub(super) struct Symbol {
    /// What it stands for.
    pub thing: Definition,
    /// Where it is declared or imported.
    pub span: Span,
    /// Whether it is imported.
    pub imported: bool,
}

/// Names of one list so far.
pub(super) type Seen<'n> = BTreeMap<&'n str, &'n Name>;

/// The names of one file.
pub(super) type SymbolTable = BTreeMap<String, Symbol>;

impl Resolver<'_> {
    /// What `name` stands for in `file`; reported where it is nothing of the kind.
    pub fn find(&mut self, file: FileId, name: &Name, wanted: Wanted) -> Option<Definition> {
        if self.bound.contains_key(&name.node) {
            return self.find_bound(name, wanted);
        }
        let lost = self.is_lost(file, &name.node);
        let entry = self.symbol(file, name).cloned();
        let diagnostic = match entry {
            Some(entry) => match entry.thing {
                Definition::Broken => return None,
                thing if wanted.takes(thing) => return Some(thing),
                thing => {
                    let noun = wanted.noun();
                    let message = format!("`{}` is {}, not a {noun}", name.node, thing.noun());
                    let found = Diagnostic::new(wanted.code(), message, name.span)
                        .label(entry.span, "declared here");
                    let fitting = self.fitting(file, wanted);
                    found.help(match (thing, fitting.is_empty()) {
                        (Definition::Graph(_), _) if wanted == Wanted::Tool => {
                            format!("a graph is called by `subgraph {}`", name.node)
                        }
                        (_, true) => format!("declare one: `{} ..`", wanted.keyword()),
                        (_, false) => format!("there is {fitting}"),
                    })
                }
            },
            None if lost => return None,
            None => self.unknown(file, name, wanted),
        };
        self.diags.push(diagnostic);
        None
    }

    /// The tool of that name; reported where there is none.
    pub fn tool_named(&mut self, file: FileId, name: &Name) -> Option<ToolId> {
        match self.find(file, name, Wanted::Tool)? {
            Definition::Tool(tool) => Some(tool),
            _ => None,
        }
    }

    /// The symbol that `name` refers to in `file`, if any: a reference of the program from here on.
    pub fn symbol(&mut self, file: FileId, name: &Name) -> Option<&Symbol> {
        let symbol = self.names.get(file.0 as usize)?.get(&name.node)?;
        let (at, to) = (name.span, symbol.span);
        self.program.references.insert(Reference { to, at });
        Some(symbol)
    }

    /// What `name` stands for in `file`, if anything, without a reference to it.
    pub fn meaning(&self, file: FileId, name: &str) -> Option<Definition> {
        let entry = self.names.get(file.0 as usize)?.get(name)?;
        Some(entry.thing)
    }

    /// Whether a part of the file that did not parse seems to declare the name.
    pub fn is_lost(&self, file: FileId, name: &str) -> bool {
        self.files
            .get(file.0 as usize)
            .is_some_and(|file| file.lost.contains(name))
    }

    /// Whether a part of what stands there did not parse.
    pub fn is_damaged(&self, at: Span) -> bool {
        let file = self.files.get(at.file.0 as usize);
        let within = |error: &Span| error.start >= at.start && error.start < at.end;
        file.is_some_and(|file| file.errors.iter().any(within))
    }

    /// Whether the file stopped making sense within a name or right behind it, so that the name is
    /// likely not what was meant: `größe`, `not x`.
    pub fn is_cut_off(&self, name: &Name) -> bool {
        let Some(file) = self.files.get(name.span.file.0 as usize) else {
            return false;
        };
        let within = |error: &Span| error.start <= name.span.start && name.span.end < error.end;
        file.before_errors.contains(&name.span.end) || file.errors.iter().any(within)
    }

    /// Whether a name is the first of its spelling in a list; another one is reported.
    pub fn once<'n>(&mut self, seen: &mut Seen<'n>, what: &str, name: &'n Name) -> bool {
        let first = seen.get(name.as_str()).copied();
        match first {
            Some(first) => self.twice(what, first, name),
            None => _ = seen.insert(name, name),
        }
        first.is_none()
    }

    /// Reports a name that is given twice in one list.
    pub fn twice(&mut self, what: &str, first: &Name, again: &Name) {
        let message = format!("{what} `{}` is given twice", again.node);
        let found = Diagnostic::new(&codes::DUPLICATE_NAME, message, again.span)
            .here("given again")
            .label(first.span, "first given here")
            .help("take one of the two out, or rename it");
        self.diags.push(found);
    }

    /// Whether a setting is the first of its name; another one is reported.
    pub fn given_once<'n>(&mut self, seen: &mut Seen<'n>, key: &'n Name) -> bool {
        let first = seen.get(key.as_str()).copied();
        match first {
            Some(first) => self.given_twice_at(&key.node, first.span, key.span),
            None => _ = seen.insert(key, key),
        }
        first.is_none()
    }

    /// Reports a setting or property that is given twice.
    pub fn given_twice_at(&mut self, word: &str, first: Span, again: Span) {
        let message = format!("`{word}` is given twice");
        let diagnostic = Diagnostic::new(&codes::DUPLICATE_PROPERTY, message, again)
            .here("given again")
            .label(first, "first given here")
            .help(match word {
                "start" => "write one `start -> [a, b]`",
                _ => "keep one of the two",
            });
        self.diags.push(diagnostic);
    }

    fn unknown(&self, file: FileId, name: &Name, wanted: Wanted) -> Diagnostic {
        let message = format!("unknown {} `{}`", wanted.noun(), name.node);
        let diagnostic =
            Diagnostic::new(wanted.code(), message, name.span).unknown(&name.node, Home::Items);
        let own_near = || {
            let own = self.names.get(file.0 as usize).into_iter().flatten();
            let fitting = own.filter(|(_, entry)| wanted.takes(entry.thing));
            fitting.map(|(known, _)| known.as_str())
        };
        let near = || own_near().chain(wanted.built_in().iter().copied());
        // `text` is a word for a type that everybody knows, whatever else is near to it; `Texts` beside `Text` is a slip.
        let own_slip = || {
            let near = name::closest(&name.node, own_near())?;
            let case = near.eq_ignore_ascii_case(&name.node);
            let capital = name.node.starts_with(|c: char| c.is_ascii_uppercase());
            (case || capital && name::certain(&name.node, own_near()) == Some(near)).then_some(near)
        };
        if wanted == Wanted::Type
            && own_slip().is_none()
            && let Some((help, meant)) = foreign::ty::alone(&name.node)
        {
            let found = diagnostic.near(meant).help(help);
            return match meant {
                Some(meant) => found.fix(name.span, meant),
                None => found,
            };
        }
        // A word of the language is no slip in another one's letters.
        if wanted == Wanted::Type && crate::parse::is_keyword(&name.node) {
            let help = "name a type, such as `string`: this is a word of the language";
            return diagnostic.help(help);
        }
        if let Some(close) = name::closest(&name.node, near()) {
            let diagnostic = diagnostic
                .near(Some(close))
                .help(format!("did you mean `{close}`?"));
            return match name::certain(&name.node, near()) {
                Some(meant) => diagnostic.fix(name.span, meant),
                None => diagnostic,
            };
        }
        match self.declared_elsewhere(file, &name.node, wanted) {
            Some((path, span)) => diagnostic.label(span, "declared here").help(format!(
                "import it: `import {{ {} }} from \"{path}\"`",
                name.node
            )),
            None => {
                let declare = format!("declare it: `{} {} ..`", wanted.keyword(), name.node);
                let fitting = self.fitting(file, wanted);
                diagnostic.help(match fitting.is_empty() {
                    true => declare,
                    false => format!("{declare}; there is {fitting}"),
                })
            }
        }
    }

    /// The names that fit in that file; empty where there are none.
    fn fitting(&self, file: FileId, wanted: Wanted) -> String {
        let own = self.names.get(file.0 as usize).into_iter().flatten();
        let own = own.filter(|(_, entry)| wanted.takes(entry.thing));
        let all = own.map(|(known, _)| known.as_str());
        let all: Vec<&str> = all.chain(wanted.built_in().iter().copied()).collect();
        match all.is_empty() {
            true => String::new(),
            false => name::few(all),
        }
    }

    fn declared_elsewhere(
        &self,
        file: FileId,
        name: &str,
        wanted: Wanted,
    ) -> Option<(String, Span)> {
        let here = self.files.get(file.0 as usize)?;
        self.files
            .iter()
            .zip(&self.names)
            .find_map(|(other, names)| {
                let entry = names.get(name)?;
                let fits = !entry.imported && wanted.takes(entry.thing) && !other.standard;
                fits.then(|| (relative(&here.path, &other.path), entry.span))
            })
    }
}

/// A name that is none of a graph's nodes, or of the fields of a state or a record.
pub(super) fn has_no<'n>(
    owner: &str,
    of: &str,
    name: &Name,
    home: Home,
    known: impl IntoIterator<Item = &'n str>,
) -> Diagnostic {
    let (code, what) = match home {
        Home::Nodes(_) => (&codes::UNKNOWN_NODE, "node"),
        _ => (&codes::UNKNOWN_FIELD, "field"),
    };
    let message = format!("`{owner}` has no {what} `{}`", name.node);
    let known: Vec<&str> = known.into_iter().collect();
    Diagnostic::new(code, message, name.span)
        .unknown(&name.node, home)
        .meant(
            name.span,
            &name.node,
            known,
            &format!("its {of}{what}s are"),
        )
}

/// `path` as a file in the folder of `base` would import it.
fn relative(base: &str, path: &str) -> String {
    let mut from: Vec<&str> = base.split('/').collect();
    from.pop();
    let to: Vec<&str> = path.split('/').collect();
    let shared = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let up = "../".repeat(from.len() - shared);
    let down = to.get(shared..).unwrap_or_default().join("/");
    match up.is_empty() {
        true => format!("./{down}"),
        false => up + &down,
    }
}
