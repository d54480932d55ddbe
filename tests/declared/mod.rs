//! Scopes for tests, declared in the language itself: `type state { .. }` gives the fields of the state, `type scope { .. }` the
//! other names in scope; every other type and enum is one of the program's.
#![allow(dead_code)]

use std::sync::Arc;

use graphc::ast::item::{Item, TypeBody};
use graphc::ast::ty::{Attribute, Field, TypeExpr, TypeKind};
use graphc::base::{FileId, SourceMap};
use graphc::diag::Diagnostics;
use graphc::expr::ty::{EnumMember, EnumType, Record, RecordField};
use graphc::expr::{EnumId, RecordId, Scope, Type, TypeTable};

/// A scope and the types it speaks of.
pub struct Declared {
    pub scope: Scope,
    pub types: TypeTable,
}

/// Reads declarations; panics where they are wrong, since the test itself is then.
pub fn declared(text: &str) -> Declared {
    let mut sources = SourceMap::new();
    let file = sources.add("declarations", text);
    let mut diags = Diagnostics::new();
    let parsed = graphc::parse::parse(text, file, &mut diags);
    assert!(diags.is_empty(), "declarations: {diags:#?}");
    let mut reader = Reader {
        types: TypeTable::default(),
        scope: Scope {
            effects: true,
            ..Scope::default()
        },
    };
    reader.items(&parsed.items);
    Declared {
        scope: reader.scope,
        types: reader.types,
    }
}

/// A type as it is written in a flow.
pub fn type_of(text: &str, types: &TypeTable) -> Type {
    let source = format!("type t {{ f: {text} }}");
    let mut diags = Diagnostics::new();
    let parsed = graphc::parse::parse(&source, FileId(0), &mut diags);
    assert!(diags.is_empty(), "type `{text}`: {diags:#?}");
    let reader = Reader {
        types: types.clone(),
        scope: Scope::default(),
    };
    for item in &parsed.items {
        if let Item::Type(declared) = item
            && let TypeBody::Record(fields) = &declared.body
            && let Some(field) = fields.first()
        {
            return reader.ty(&field.ty);
        }
    }
    panic!("`{text}` is no type");
}

struct Reader {
    types: TypeTable,
    scope: Scope,
}

fn aliases(attributes: &[Attribute], types: &TypeTable) -> Vec<String> {
    let aliases = attributes
        .iter()
        .filter(|attribute| attribute.name.node == "alias");
    let texts = aliases.flat_map(|attribute| &attribute.args);
    let texts = texts.filter_map(|arg| graphc::expr::infer::constant(arg, types));
    texts
        .filter_map(|text| text.as_str().map(str::to_owned))
        .collect()
}

impl Reader {
    /// Names first, so that types may speak of each other.
    fn items(&mut self, items: &[Item]) {
        for item in items {
            match item {
                Item::Enum(e) => {
                    let members = e.members.iter().map(|m| EnumMember {
                        name: m.name.node.clone(),
                        doc: m.doc.clone(),
                        aliases: aliases(&m.attributes, &self.types),
                    });
                    let declared = EnumType {
                        name: e.name.node.clone(),
                        doc: e.doc.clone(),
                        members: members.collect(),
                    };
                    self.types.enums.push(declared);
                }
                Item::Type(t) if !is_scope(&t.name.node) => {
                    self.types.records.push(Record {
                        name: t.name.node.clone(),
                        doc: t.doc.clone(),
                        fields: Vec::new(),
                        index: Default::default(),
                    });
                }
                _ => {}
            }
        }
        for item in items {
            if let Item::Type(t) = item
                && let TypeBody::Record(fields) = &t.body
            {
                self.record(&t.name.node, fields);
            }
        }
    }

    fn record(&mut self, name: &str, fields: &[Field]) {
        let read: Vec<RecordField> = fields.iter().map(|f| self.field(f)).collect();
        let pairs = || read.iter().map(|f| (f.name.clone(), f.ty.clone()));
        match name {
            "state" => self.scope.state = Some(Arc::new(pairs().collect())),
            "scope" => self.scope.names.extend(pairs()),
            _ => {
                let id = self.record_id(name).expect("declared before");
                self.types.records[id].fields = read;
            }
        }
    }

    fn field(&self, field: &Field) -> RecordField {
        let mut constraints = graphc::expr::constraint::Constraints::default();
        for attribute in &field.attributes {
            let args: Vec<serde_json::Value> = attribute
                .args
                .iter()
                .filter_map(|arg| graphc::expr::infer::constant(arg, &self.types))
                .collect();
            let number = || args[0].as_number().cloned();
            let text = || args[0].as_str().map(str::to_owned);
            match attribute.name.node.as_str() {
                "min" => constraints.min = number(),
                "max" => constraints.max = number(),
                "len" => {
                    constraints.len = Some((args[0].as_u64().unwrap(), args[1].as_u64().unwrap()))
                }
                "pattern" => constraints.pattern = text(),
                "alias" => constraints.alias = text(),
                other => panic!("attribute `{other}`"),
            }
        }
        RecordField {
            name: field.name.node.clone(),
            doc: field.doc.clone(),
            ty: self.ty(&field.ty),
            default: field
                .default
                .as_ref()
                .and_then(|default| graphc::expr::infer::constant(default, &self.types)),
            constraints,
        }
    }

    fn record_id(&self, name: &str) -> Option<RecordId> {
        let mut entries = self.types.records.entries();
        entries.find(|(_, r)| r.name == name).map(|(id, _)| id)
    }

    fn enum_id(&self, name: &str) -> Option<EnumId> {
        let mut entries = self.types.enums.entries();
        entries.find(|(_, e)| e.name == name).map(|(id, _)| id)
    }

    fn ty(&self, ty: &TypeExpr) -> Type {
        match &ty.kind {
            TypeKind::Name(name) => self.named(name),
            TypeKind::Generic(name, of) if name.node == "list" => Type::list(self.ty(of)),
            TypeKind::Generic(_, of) => Type::map(self.ty(of)),
            TypeKind::Optional(of) => Type::nullable(self.ty(of)),
            TypeKind::Union(members) => Type::Union(members.iter().map(|m| self.ty(m)).collect()),
            TypeKind::Literal(text) => Type::Literal(text.as_str().into()),
            TypeKind::Record(_) => panic!("a record here has a name"),
        }
    }

    fn named(&self, name: &str) -> Type {
        match name {
            "bool" => Type::Bool,
            "int" => Type::Int,
            "float" => Type::Float,
            "string" => Type::String,
            "json" => Type::Json,
            "timestamp" => Type::Timestamp,
            "duration" => Type::Duration,
            other => match (self.record_id(other), self.enum_id(other)) {
                (Some(id), _) => Type::Record(id),
                (None, Some(id)) => Type::Enum(id),
                (None, None) => panic!("`{other}` is declared nowhere"),
            },
        }
    }
}

fn is_scope(name: &str) -> bool {
    matches!(name, "state" | "scope")
}

/// The files of a folder of `tests`, in the order of their names.
pub fn files(folder: &str, ending: &str) -> Vec<std::path::PathBuf> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests")
        .join(folder);
    let mut files: Vec<_> = std::fs::read_dir(&folder)
        .expect("folder of tests")
        .map(|entry| entry.expect("entry").path())
        .filter(|path| path.extension().is_some_and(|e| e == ending))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "no tests in {}", folder.display());
    files
}

/// Lines of marks under a text: for each finding that lies in it `^^^ error[code] message` and its help, indented to its column.
pub fn marks(text: &str, diags: &Diagnostics) -> String {
    let mut out = String::new();
    for found in diags.iter() {
        let (start, end) = (found.span().start as usize, found.span().end as usize);
        let before = &text[..start.min(text.len())];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or("").chars().count();
        let width = text[start.min(text.len())..end.min(text.len())]
            .chars()
            .count()
            .max(1);
        let lines = if text.contains('\n') {
            format!("{line}:")
        } else {
            String::new()
        };
        let pad = " ".repeat(column.saturating_sub(lines.len()));
        out += &format!(
            "{lines}{pad}{} {}[{}] {}\n",
            "^".repeat(width),
            found.level.word(),
            found.code.slug,
            found.message
        );
        for label in found
            .labels
            .iter()
            .skip(1)
            .chain(found.labels.iter().take(1))
            .filter(|l| !l.message.is_empty())
        {
            let part = &text[label.span.start as usize..label.span.end as usize];
            out += &format!("  `{part}`: {}\n", label.message);
        }
        if let Some(help) = &found.help {
            out += &format!("  help: {help}\n");
        }
        for edit in &found.fix {
            out += &format!("  fix: {}\n", edit.text);
        }
    }
    out
}
