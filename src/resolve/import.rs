//! Imports: the names that a file takes from another.

use std::collections::BTreeSet;

use crate::ast::item::{Import, ImportName, Item};
use crate::base::{FileId, Span};
use crate::diag::{Diagnostic, Fact, Home, codes};

use super::Resolver;
use super::declare::Shared;
use super::names::{Definition, Symbol};
use super::program::Reference;

impl Resolver<'_> {
    pub(super) fn bind_imports(&mut self, file: FileId, shared: &mut Shared) {
        let files = self.files;
        let Some(loaded) = files.get(file.0 as usize) else {
            return;
        };
        let imports = loaded.ast.items.iter().filter_map(imported);
        for (i, import) in imports.enumerate() {
            let module = loaded.imports.get(i).copied().flatten();
            for name in &import.names {
                let thing = match module {
                    Some(module) => self.exported(module, import, name),
                    None => Definition::Broken,
                };
                let thing = self.renamed(name, thing, shared);
                let local = name.alias.as_ref().unwrap_or(&name.name);
                if !self.enter(file, local, thing, true) {
                    shared.clashing.insert(local.node.clone());
                }
            }
        }
    }

    /// What a module declares under that name.
    fn exported(&mut self, module: FileId, import: &Import, wanted: &ImportName) -> Definition {
        let names = self.names.get(module.0 as usize);
        let entry = names.and_then(|names| names.get(&wanted.name.node));
        if let Some(Symbol { thing, span, .. }) = entry.filter(|entry| !entry.imported) {
            let (at, to) = (wanted.name.span, *span);
            self.program.references.insert(Reference { to, at });
            return *thing;
        }
        if self.is_lost(module, &wanted.name.node) {
            return Definition::Broken;
        }
        let message = format!("`{}` has no `{}`", import.from.node, wanted.name.node);
        let diagnostic = Diagnostic::new(&codes::UNKNOWN_IMPORT, message, wanted.name.span)
            .unknown(&wanted.name.node, Home::Items)
            .fact(Fact::Module(module));
        let own = names.into_iter().flatten().filter(|(_, e)| !e.imported);
        let own: Vec<&str> = own.map(|(n, _)| n.as_str()).collect();
        self.diags.push(match entry {
            Some(_) => {
                diagnostic.help("it imports that name itself: import it from where it is declared")
            }
            None => diagnostic.meant(wanted.name.span, &wanted.name.node, own, "it declares"),
        });
        Definition::Broken
    }

    /// What `as` makes of an imported thing. Records and enums are looked up by name in the type
    /// table, so under another name they are another entry of it, equal in shape.
    fn renamed(&mut self, name: &ImportName, thing: Definition, shared: &mut Shared) -> Definition {
        let Some(alias) = name
            .alias
            .as_ref()
            .filter(|alias| alias.node != name.name.node)
        else {
            return thing;
        };
        match thing {
            Definition::Record(original) => {
                self.enter_shared(shared, alias);
                let copy = self.new_record(&alias.node, "");
                self.record_copies.push((copy, original));
                Definition::Record(copy)
            }
            Definition::Enum(original) => {
                self.enter_shared(shared, alias);
                let copy = self.new_enum(&alias.node, "");
                self.enum_copies.push((copy, original));
                Definition::Enum(copy)
            }
            Definition::Function => {
                let message = "a function can't be imported under another name";
                let help = format!("import it as `{}`", name.name.node);
                self.report(&codes::UNSUPPORTED, message, alias.span, help);
                Definition::Broken
            }
            thing => thing,
        }
    }

    /// Reports imports that nothing uses. Called when everything else is resolved.
    pub fn unused_imports(&mut self) {
        let unused = self.names.iter().flatten();
        let used = |symbol: &Symbol| self.program.references_to(symbol.span).next().is_some();
        let unused =
            unused.filter(|(_, e)| e.imported && !used(e) && e.thing != Definition::Broken);
        // A misspelt use of it is told to be one.
        let unknown = self.diags.iter().filter_map(Diagnostic::unknown_name);
        let meant: BTreeSet<&str> = unknown
            .filter_map(|unknown| unknown.near.as_deref())
            .collect();
        let misspelt = |name: &str| meant.contains(name);
        let unused = unused.filter(|(name, _)| !misspelt(name));
        let found: Vec<Diagnostic> = unused
            .map(|(name, entry)| {
                let message = format!("`{name}` is imported and never used");
                let finding = Diagnostic::new(&codes::UNUSED_IMPORT, message, entry.span);
                self.without_import(finding.help("take it out"), entry.span)
            })
            .collect();
        for diagnostic in found {
            self.diags.push(diagnostic);
        }
    }

    /// Adds the edit that takes an imported name out: of its list, or with the whole import where it is alone.
    fn without_import(&self, finding: Diagnostic, place: Span) -> Diagnostic {
        let file = self.files.iter().find(|file| file.id == place.file);
        let items = file.into_iter().flat_map(|file| &file.ast.items);
        let imports = items.filter_map(|item| match item {
            Item::Import(import) => Some(import),
            _ => None,
        });
        for import in imports {
            let whole = |name: &ImportName| {
                let alias = name
                    .alias
                    .as_ref()
                    .map_or(name.name.span, |alias| alias.span);
                name.name.span.to(alias)
            };
            let list: Vec<Span> = import.names.iter().map(whole).collect();
            let within = |span: &Span| span.start <= place.start && place.end <= span.end;
            let Some(at) = list.iter().position(within) else {
                continue;
            };
            return match list.len() {
                1 => finding.fix(self.line(import.span), ""),
                _ => finding.take_out(&list, at),
            };
        }
        finding
    }

    /// The span, with the blanks before it and the line end behind it where it has its lines for itself.
    pub(super) fn lines(&self, span: Span) -> Span {
        let text = self.sources.file(span.file).map_or("", |file| &file.text);
        let whole = self.line(span);
        let before = text.get(..span.start as usize).unwrap_or("");
        let line_start = before.trim_end_matches([' ', '\t']);
        let alone = line_start.is_empty() || line_start.ends_with('\n');
        match alone && whole.end > span.end {
            true => Span {
                start: line_start.len() as u32,
                ..whole
            },
            false => span,
        }
    }

    /// The span, with the line end behind it where nothing else follows on the line.
    fn line(&self, span: Span) -> Span {
        let text = self.sources.file(span.file).map_or("", |file| &file.text);
        let rest = text.get(span.end as usize..).unwrap_or("");
        let line = rest.find('\n').map_or(rest.len(), |at| at + 1);
        let blank = rest.get(..line).is_some_and(|rest| rest.trim().is_empty());
        let end = span.end + if blank { line as u32 } else { 0 };
        Span { end, ..span }
    }
}

fn imported(item: &Item) -> Option<&Import> {
    match item {
        Item::Import(import) => Some(import),
        _ => None,
    }
}
