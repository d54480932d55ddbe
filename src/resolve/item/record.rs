//! Records and enums: what `declare` left empty in the type table.

use crate::ast::Name;
use crate::ast::item::{EnumDecl, Item, TypeBody, TypeDecl};
use crate::base::FileId;
use crate::expr::ty::{EnumMember, RecordField};

use super::super::Resolver;
use super::super::names::{Definition, Seen};
use super::super::naming::Style;
use super::super::program::{self, Param, RecordDecl};
use crate::expr::infer::default_value;

impl Resolver<'_> {
    /// Fills in every record and enum, with the copies that imports made.
    ///
    /// Enums come first, and defaults of fields last, since a default may be a member of an enum or a
    /// literal of a record with defaults of its own.
    pub fn records(&mut self) {
        for file in self.files {
            for item in &file.ast.items {
                if let Item::Enum(decl) = item {
                    self.enum_item(file.id, decl);
                }
            }
        }
        for (copy, original) in std::mem::take(&mut self.enum_copies) {
            let members = self.program.types.enums[original].members.clone();
            self.program.types.enums[copy].members = members;
        }
        for file in self.files {
            for item in &file.ast.items {
                if let Item::Type(decl) = item {
                    self.type_item(file.id, decl);
                }
            }
        }
        self.endless_records();
        for (copy, original) in &self.record_copies {
            let of_it = (*original, String::new())..;
            let marks = self.program.marked.range(of_it);
            let marked: Vec<_> = marks
                .take_while(|((record, _), _)| record == original)
                .map(|((_, name), marks)| ((*copy, name.clone()), *marks))
                .collect();
            self.program.marked.extend(marked);
        }
        self.record_defaults();
        (0..self.aliases.len()).for_each(|index| {
            self.alias(index);
        });
    }

    fn type_item(&mut self, file: FileId, decl: &TypeDecl) {
        let TypeBody::Record(fields) = &decl.body else {
            return;
        };
        let Some(Definition::Record(id)) = self.own(file, &decl.name) else {
            return;
        };
        let fields = self.params(file, fields, "field", true);
        self.program.types.records[id].fields = fields.iter().map(without_default).collect();
        for field in fields.iter().filter(|field| !field.marks.is_empty()) {
            let key = (id, field.name.node.clone());
            self.program.marked.insert(key, field.marks);
        }
        self.program.records.push(RecordDecl {
            id,
            name: decl.name.clone(),
            fields,
            span: decl.span,
        });
    }

    fn enum_item(&mut self, file: FileId, decl: &EnumDecl) {
        let Some(Definition::Enum(id)) = self.own(file, &decl.name) else {
            return;
        };
        let mut members: Vec<Name> = Vec::new();
        let mut seen = Seen::default();
        let mut all_aliases: Vec<(usize, Name)> = Vec::new();
        for (index, member) in decl.members.iter().enumerate() {
            self.check_style(&member.name, Style::Snake);
            let (doc, aliases) = self.member_attributes(&member.doc, &member.attributes);
            if !self.once(&mut seen, "member", &member.name) {
                continue;
            }
            members.push(member.name.clone());
            all_aliases.extend(aliases.iter().map(|alias| (index, alias.clone())));
            self.program.types.enums[id].members.push(EnumMember {
                name: member.name.node.clone(),
                doc,
                aliases: aliases.into_iter().map(|alias| alias.node).collect(),
            });
        }
        self.shared_aliases(decl, &all_aliases);
        if members.is_empty() {
            let message = format!(
                "enum `{}` has no members, expected one or more",
                decl.name.node
            );
            self.bad_value(message, decl.name.span);
        }
        self.program.enums.push(program::EnumDecl {
            id,
            name: decl.name.clone(),
            members,
            span: decl.span,
        });
    }

    /// What the declaration that stands there got; `None` for the second one of a name.
    fn own(&self, file: FileId, name: &Name) -> Option<Definition> {
        let entry = self.names.get(file.0 as usize)?.get(&name.node)?;
        (entry.span == name.span).then_some(entry.thing)
    }

    /// Parameters as fields of a record of the type table.
    pub fn record_fields(&self, params: &[Param]) -> Vec<RecordField> {
        let types = &self.program.types;
        params
            .iter()
            .map(|param| {
                let default = param.default.as_ref();
                RecordField {
                    default: default.and_then(|e| default_value(e, &param.ty.node, types)),
                    ..without_default(param)
                }
            })
            .collect()
    }

    /// The record of a list of fields, such as a node's `input`. Its name has a blank, so that no
    /// expression can mean it.
    pub fn synthetic(&mut self, name: &str, fields: Vec<RecordField>) -> crate::expr::ty::RecordId {
        let id = self.new_record(name, "");
        self.program.types.records[id].fields = fields;
        id
    }
}

/// A field of a record before its default is known.
fn without_default(param: &Param) -> RecordField {
    RecordField {
        name: param.name.node.clone(),
        doc: param.doc.clone(),
        ty: param.ty.node.clone(),
        default: None,
        constraints: param.constraints.clone(),
    }
}
