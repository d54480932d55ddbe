//! Reading a flow's files: the first one and all that it imports, directly or not.
//!
//! Paths are relative to the project's folder and use `/`; [`Loader`] says how they are read, so
//! that nothing here does I/O.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::ast::Name;
use crate::ast::graph::Graph;
use crate::ast::item::{File, Item};
use crate::base::{FileId, SourceMap, Span};
use crate::diag::{Diagnostic, Diagnostics, codes};

use super::program::Tree;
use super::stdlib;

/// Reads the files of a project.
pub trait Loader {
    /// The text of a file.
    ///
    /// `path` is relative to the project's folder, with `/`, and never leaves it.
    ///
    /// # Errors
    /// [`LoadError`] says why there is no text.
    fn read(&self, path: &str) -> Result<Arc<str>, LoadError>;
}

/// Why a file gives no text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// There is no such file.
    #[error("there is no such file")]
    NotFound,
    /// It is there, but can't be read; the reason in words.
    #[error("{0}")]
    Unreadable(String),
}

/// Files held in memory, by path.
impl Loader for BTreeMap<String, String> {
    fn read(&self, path: &str) -> Result<Arc<str>, LoadError> {
        self.get(path)
            .map(|text| text.as_str().into())
            .ok_or(LoadError::NotFound)
    }
}

/// A file with its syntax tree.
pub(super) struct Loaded {
    /// Its source; also its position among the loaded files.
    pub id: FileId,
    /// Path in the project, or the name of a standard module.
    pub path: String,
    /// What it says.
    pub ast: File,
    /// The file of each import, in the order of the import items; `None` where there is none.
    pub imports: Vec<Option<FileId>>,
    /// Whether it is part of the standard library.
    pub standard: bool,
    /// Names that a broken part of it seems to declare; empty where all of it parsed.
    pub lost: BTreeSet<String>,
    /// Places of its syntax errors.
    pub errors: Vec<Span>,
    /// For each of them, where the text before it ends, blanks left out.
    pub before_errors: Vec<u32>,
}

impl Loaded {
    /// What is kept of it when all names are resolved.
    pub fn tree(self) -> Tree {
        Tree {
            file: self.id,
            standard: self.standard,
            items: self.ast.items,
            damaged: self.ast.damaged,
        }
    }
}

/// Takes the graphs out of their files, in order. What stays has their names and no members.
pub(super) fn graphs(files: &mut [Loaded]) -> Vec<(FileId, Graph)> {
    let mut graphs = Vec::new();
    for file in files {
        for item in &mut file.ast.items {
            if let Item::Graph(graph) = item {
                let members = std::mem::take(&mut graph.members);
                let whole = Graph {
                    members,
                    ..(**graph).clone()
                };
                graphs.push((file.id, whole));
            }
        }
    }
    graphs
}

/// Reads and parses everything, breadth first. The first file is always there, if need be empty.
pub(super) fn load(
    entry: &str,
    loader: &dyn Loader,
    sources: &mut SourceMap,
    diags: &mut Diagnostics,
) -> Vec<Loaded> {
    let mut files: Vec<Loaded> = Vec::new();
    let mut known: BTreeMap<String, Option<FileId>> = BTreeMap::new();
    let text = loader.read(entry).unwrap_or_else(|error| {
        let message = format!("`{entry}` can't be read: {error}");
        diags.push(Diagnostic::new(
            &codes::FILE_NOT_FOUND,
            message,
            Span::default(),
        ));
        Arc::default()
    });
    known.insert(entry.to_owned(), Some(FileId(0)));
    files.push(parse(entry, text, false, sources, diags));
    let mut next = 0;
    while let Some(file) = files.get(next) {
        let base = file.path.clone();
        let standard = file.standard;
        let wanted: Vec<Name> = imports(&file.ast).cloned().collect();
        let mut found = Vec::new();
        for from in &wanted {
            let id = module_path(&base, standard, from).and_then(|path| {
                if let Some(id) = known.get(&path) {
                    return Ok(*id);
                }
                let (text, standard) = read(&path, from, loader)?;
                let file = parse(&path, text, standard, sources, diags);
                let id = file.id;
                files.push(file);
                known.insert(path, Some(id));
                Ok(Some(id))
            });
            found.push(id.unwrap_or_else(|diagnostic| {
                diags.push(*diagnostic);
                None
            }));
        }
        if let Some(file) = files.get_mut(next) {
            file.imports = found;
        }
        next += 1;
    }
    files
}

fn imports(ast: &File) -> impl Iterator<Item = &Name> {
    ast.items.iter().filter_map(|item| match item {
        Item::Import(import) => Some(&import.from),
        _ => None,
    })
}

fn parse(
    path: &str,
    shared: Arc<str>,
    standard: bool,
    sources: &mut SourceMap,
    diags: &mut Diagnostics,
) -> Loaded {
    let id = sources.add_shared(path, Arc::clone(&shared));
    let text: &str = &shared;
    let found = diags.len();
    let ast = crate::parse::parse(text, id, diags);
    let errors: Vec<Span> = diags.iter().skip(found).map(Diagnostic::span).collect();
    let before = |error: &Span| {
        text.get(..error.start as usize)
            .unwrap_or("")
            .trim_ascii_end()
    };
    // A misspelt keyword outside of the damaged pieces was read as it was meant.
    let misspelt = |found: &Diagnostic| found.code == &codes::UNKNOWN_KEYWORD;
    let unread = diags.iter().skip(found).filter(|found| !misspelt(found));
    let unread: Vec<Span> = unread.map(Diagnostic::span).collect();
    let damaged = ast.damaged.clone();
    Loaded {
        id,
        before_errors: errors
            .iter()
            .map(|error| before(error).len() as u32)
            .collect(),
        path: path.to_owned(),
        ast,
        imports: Vec::new(),
        standard,
        lost: lost(text, &damaged, &unread),
        errors,
    }
}

/// Names that what did not parse seems to declare: those in the damaged pieces, and in the whole text where an error lies
/// in none of them.
fn lost(text: &str, damaged: &[Span], errors: &[Span]) -> BTreeSet<String> {
    let damaged = Span::merged(damaged.iter().copied());
    let held = |error: &Span| {
        let before = damaged.partition_point(|piece| piece.start <= error.start);
        let last = before.checked_sub(1).and_then(|last| damaged.get(last));
        last.is_some_and(|piece| piece.holds(*error))
    };
    if errors.iter().all(held) {
        let pieces = damaged.iter();
        let pieces = pieces.filter_map(|at| text.get(at.start as usize..at.end as usize));
        return pieces.flat_map(declared_words).collect();
    }
    declared_words(text)
}

/// Words of a text that stand where a name is declared: behind a keyword of a declaration or
/// before a colon. After a syntax error they are taken for known, so that one mistake makes one message.
pub fn declared_words(text: &str) -> BTreeSet<String> {
    const KEYWORDS: [&str; 14] = [
        "type", "enum", "reducer", "event", "model", "tool", "toolset", "retry", "prompt", "graph",
        "node", "let", "function", "as",
    ];
    let mut words = BTreeSet::new();
    let mut keyword = false;
    for piece in text.split_inclusive(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.')) {
        let word = piece.trim_end_matches(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.'));
        if word.is_empty() {
            continue;
        }
        if keyword || piece.ends_with(':') {
            words.insert(word.to_owned());
        }
        keyword = KEYWORDS.contains(&word);
    }
    words
}

fn read(path: &str, from: &Name, loader: &dyn Loader) -> Result<(Arc<str>, bool), Box<Diagnostic>> {
    if path.starts_with("std/") {
        return match stdlib::source(path) {
            Some(text) => Ok((text.into(), true)),
            None => Err(Box::new(unknown_module(path, from.span))),
        };
    }
    loader
        .read(path)
        .map(|text| (text, false))
        .map_err(|error| {
            let message = format!("`{path}` can't be read: {error}");
            let found = Diagnostic::new(&codes::FILE_NOT_FOUND, message, from.span);
            Box::new(match error {
                LoadError::NotFound => {
                    found.help("write the path from the folder that this file is in")
                }
                LoadError::Unreadable(_) => found,
            })
        })
}

fn unknown_module(path: &str, span: Span) -> Diagnostic {
    let message = format!("the standard library has no module `{path}`");
    let names: Vec<&str> = stdlib::names().collect();
    let mut found = Diagnostic::new(&codes::UNKNOWN_MODULE, message, span).meant(
        span,
        path,
        names,
        "its modules are",
    );
    // The place is that of the text in quotes.
    for edit in &mut found.fix {
        edit.text = format!("{:?}", edit.text);
    }
    found
}

/// The path that an import names.
fn module_path(base: &str, standard: bool, from: &Name) -> Result<String, Box<Diagnostic>> {
    if from.starts_with("std/") {
        return Ok(from.node.clone());
    }
    if from.starts_with('@') {
        let message = "imports from packs (`@name/..`) are not supported";
        let found = Diagnostic::new(&codes::UNSUPPORTED, message, from.span)
            .help("copy the file into the project and import it as `./FILE.graph`");
        return Err(Box::new(found));
    }
    let relative = from.starts_with("./") || from.starts_with("../");
    if !relative || standard {
        let message = format!("`{}` names no module", from.node);
        let help = match from.ends_with(".graph") {
            true => format!(
                "write `./{}` for a file beside this one",
                from.node.trim_start_matches('/')
            ),
            false => "a module is a file (`\"./types.graph\"`) or part of the standard library (`\"std/text\"`)".to_owned(),
        };
        return Err(Box::new(
            Diagnostic::new(&codes::UNKNOWN_MODULE, message, from.span).help(help),
        ));
    }
    within(base, &from.node).ok_or_else(|| Box::new(outside(&from.node, from.span)))
}

/// `path`, relative to the folder of `base`, as a path of the project; `None` where it leaves it.
pub(super) fn within(base: &str, path: &str) -> Option<String> {
    if path.starts_with('/') || path.contains('\\') || path.contains(':') {
        return None;
    }
    let mut parts: Vec<&str> = base.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

/// A path that leaves the project.
pub(super) fn outside(path: &str, span: Span) -> Diagnostic {
    let message = format!("`{path}` lies outside the project");
    Diagnostic::new(&codes::FILE_OUTSIDE, message, span)
        .help("name a file inside the project, relative to this one")
}
