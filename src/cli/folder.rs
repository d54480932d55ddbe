//! A folder in place of a flow: which of its files is meant.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::ast::item::Item;
use crate::base::{FileId, name};
use crate::diag::Diagnostics;
use crate::parse::parse;

use super::{Failure, files};

/// The file of the flow that an argument names. Of a folder it is the one of the folder's name, else the only one with a graph that no
/// other file of the folder imports.
///
/// # Errors
/// Where the folder has no such file, or several.
pub fn flow_in(path: &Path) -> Result<PathBuf, Failure> {
    if !path.is_dir() {
        return Ok(path.to_owned());
    }
    let all = files::directly_in(path, ".graph");
    let shown = files::shown(path);
    if all.is_empty() {
        let failure = Failure::unusable(format!("no `*.graph` file in `{shown}`"));
        return Err(failure.help("name a file, or a folder that holds one"));
    }
    if let Some(own) = all.iter().find(|file| has_name_of(file, path)) {
        return Ok(own.clone());
    }
    let outer = outer(&all)?;
    if let [only] = outer.as_slice() {
        return Ok(only.clone());
    }
    let (message, candidates) = match outer.as_slice() {
        [] => (
            format!("`{shown}` has no flow that no other of its files imports"),
            &all,
        ),
        _ => (format!("`{shown}` has several flows"), &outer),
    };
    let candidates: Vec<String> = candidates.iter().map(|file| files::shown(file)).collect();
    let candidates = name::list(candidates.iter().map(String::as_str));
    Err(Failure::unusable(message).help(format!("name one of {candidates}")))
}

fn has_name_of(file: &Path, folder: &Path) -> bool {
    let folder = folder.canonicalize();
    let name = folder.as_deref().ok().and_then(Path::file_name);
    name.is_some() && file.file_stem() == name
}

/// The files that have a graph and that no other imports.
fn outer(all: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut imported = BTreeSet::new();
    let mut with_graphs = Vec::new();
    for file in all {
        let text = files::read(file)?.text;
        // What is wrong in it is for the command to say.
        let parsed = parse(&text, FileId(0), &mut Diagnostics::new());
        for item in &parsed.items {
            if let Item::Import(import) = &item {
                imported.extend(file.with_file_name(&*import.from.node).canonicalize().ok());
            }
        }
        let is_graph = |item: &Item| matches!(item, Item::Graph(_) | Item::Instance(_));
        if parsed.items.iter().any(is_graph) {
            with_graphs.push(file.clone());
        }
    }
    let is_imported = |file: &PathBuf| file.canonicalize().is_ok_and(|f| imported.contains(&f));
    with_graphs.retain(|file| !is_imported(file));
    Ok(with_graphs)
}
