//! Imports: the names that a file takes from another.

use std::collections::BTreeSet;

use crate::ast::item::{Import, ImportName, Item};
use crate::base::{FileId, Span, name};
use crate::diag::{Diagnostic, Fact, Home, codes};

use super::Resolver;
use super::declare::Shared;
use super::names::{Entry, Thing};

impl Resolver<'_> {
    pub(super) fn bind_imports(&mut self, file: FileId, shared: &mut Shared) {
        let files = self.files;
        let Some(loaded) = files.get(file.0 as usize) else {
            return;
        };
        let imports = loaded.ast.items.iter().filter_map(imported);
        for (i, import) in imports.enumerate() {
            let module = loaded.imports.get(i).copied().flatten();
            let module = module.filter(|module| !self.is_another(file, *module, import));
            for name in &import.names {
                let thing = match module {
                    Some(module) => self.exported(module, import, name),
                    None => Thing::Broken,
                };
                let thing = self.renamed(name, thing, shared);
                let local = name.alias.as_ref().unwrap_or(&name.name);
                if !self.enter(file, local, thing, true) {
                    shared.clashing.insert(local.node.clone());
                }
            }
        }
        for (i, import) in loaded.ast.items.iter().filter_map(imported).enumerate() {
            if let Some(module) = loaded.imports.get(i).copied().flatten() {
                self.likely_meant(file, module, import);
            }
        }
    }

    /// Whether a module has none of several imported names, nor one that is close: then it is the path that is wrong, which is
    /// reported.
    fn is_another(&mut self, file: FileId, module: FileId, import: &Import) -> bool {
        let Some(names) = self.names.get(module.0 as usize) else {
            return false;
        };
        let own: Vec<&str> = names.keys().map(String::as_str).collect();
        let missing = |name: &ImportName| {
            let name = name.name.node.as_str();
            !own.contains(&name)
                && name::closest(name, own.iter().copied()).is_none()
                && !self.is_lost(module, name)
        };
        if import.names.len() < 2 || !import.names.iter().all(missing) {
            return false;
        }
        let wanted = || import.names.iter().map(|name| name.name.node.as_str());
        let shown = name::list(wanted());
        let message = format!("`{}` declares none of {shown}", import.from.node);
        let found = Diagnostic::new(&codes::UNKNOWN_IMPORT, message, import.from.span);
        let here = self.files.get(file.0 as usize).map(|file| &file.path);
        let others = self.files.iter().zip(&self.names);
        let right = others.filter(|(_, names)| {
            wanted().all(|name| names.get(name).is_some_and(|entry| !entry.imported))
        });
        let right = right.map(|(other, _)| &other.path).next();
        let help = match here.zip(right) {
            Some((here, right)) => {
                format!("did you mean `{}`?", super::names::relative(here, right))
            }
            None => format!("it declares {}", name::few(own.iter().copied())),
        };
        self.diags.push(found.help(help));
        true
    }

    /// Names that an import likely means where it misspells them: that they are not there is said once, at the import.
    fn likely_meant(&mut self, file: FileId, module: FileId, import: &Import) {
        for wanted in import.names.iter().filter(|name| name.alias.is_none()) {
            let own = self.names.get(module.0 as usize).into_iter().flatten();
            let own = own.filter(|(_, entry)| !entry.imported);
            let own: Vec<&str> = own.map(|(name, _)| name.as_str()).collect();
            let written = wanted.name.node.as_str();
            if own.contains(&written) {
                continue;
            }
            let near = name::closest(written, own).map(str::to_owned);
            let names = self.names.get_mut(file.0 as usize);
            if let Some((near, names)) = near.zip(names) {
                names.entry(near).or_insert(Entry {
                    thing: Thing::Broken,
                    span: wanted.name.span,
                    imported: true,
                    used: true,
                });
            }
        }
    }

    /// What a module declares under that name.
    fn exported(&mut self, module: FileId, import: &Import, wanted: &ImportName) -> Thing {
        let names = self.names.get(module.0 as usize);
        let entry = names.and_then(|names| names.get(&wanted.name.node));
        if let Some(entry) = entry.filter(|entry| !entry.imported) {
            return entry.thing;
        }
        if self.is_lost(module, &wanted.name.node) {
            return Thing::Broken;
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
        Thing::Broken
    }

    /// What `as` makes of an imported thing. Records and enums are looked up by name in the type
    /// table, so under another name they are another entry of it, equal in shape.
    fn renamed(&mut self, name: &ImportName, thing: Thing, shared: &mut Shared) -> Thing {
        let Some(alias) = name
            .alias
            .as_ref()
            .filter(|alias| alias.node != name.name.node)
        else {
            return thing;
        };
        match thing {
            Thing::Record(original) => {
                self.enter_shared(shared, alias);
                let copy = self.new_record(&alias.node, "");
                self.record_copies.push((copy, original));
                Thing::Record(copy)
            }
            Thing::Enum(original) => {
                self.enter_shared(shared, alias);
                let copy = self.new_enum(&alias.node, "");
                self.enum_copies.push((copy, original));
                Thing::Enum(copy)
            }
            Thing::Function => {
                let message = "a function can't be imported under another name";
                let help = format!("import it as `{}`", name.name.node);
                self.diags
                    .push(Diagnostic::new(&codes::UNSUPPORTED, message, alias.span).help(help));
                Thing::Broken
            }
            thing => thing,
        }
    }

    /// Reports imports that nothing uses. Called when everything else is resolved.
    pub fn unused_imports(&mut self) {
        let unused = self.names.iter().flatten();
        let unused = unused.filter(|(_, e)| e.imported && !e.used && e.thing != Thing::Broken);
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
