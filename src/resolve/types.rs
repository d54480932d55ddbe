//! Types as written to types of the table.

use std::collections::HashMap;

use crate::ast::Name;
use crate::ast::ty::{Attribute, Field, TypeExpr, TypeKind};
use crate::base::foreign::{self, ty::Kind};
use crate::base::{FileId, Span, Spanned, name};
use crate::diag::{Diagnostic, codes};
use crate::expr::ty::{self, Type};

use super::Resolver;
use super::alias::joined;
use super::mark::Place;
use super::names::{Definition, Seen, Wanted};
use super::naming::Style;
use super::program::Param;

/// Names of the built-in types.
pub(super) const BUILT_IN: &[&str] = &[
    "string",
    "int",
    "float",
    "bool",
    "json",
    "timestamp",
    "duration",
    "message",
    "list",
    "map",
];

impl Resolver<'_> {
    /// The type, with its place.
    pub fn spanned_type(&mut self, file: FileId, written: &TypeExpr) -> Spanned<Type> {
        Spanned::new(self.ty(file, written), written.span)
    }

    /// The type as large as it is; [`Type::Error`] and reported where a name in it is unknown.
    pub fn built(&mut self, file: FileId, written: &TypeExpr) -> Type {
        match &written.kind {
            TypeKind::Name(name) => self.named_type(file, &Name::new(name.clone(), written.span)),
            TypeKind::Generic(name, of) => {
                let of = self.built(file, of);
                self.generic(name, of)
            }
            TypeKind::Optional(of) => Type::nullable(self.built(file, of)),
            TypeKind::Union(members) => {
                if let Some(texts) = self.bare_texts(file, written, members) {
                    return texts;
                }
                let found: Vec<Type> = members.iter().map(|m| self.built(file, m)).collect();
                self.members_once(members, &found);
                joined(found.into_iter())
            }
            TypeKind::Literal(text) => Type::Literal(text.as_str().into()),
            TypeKind::Record(fields) => self.record_in_place(file, fields, "answer"),
        }
    }

    /// The type of an answer to the question of that name; a record that is written in its place is named for it.
    pub fn answer_type(&mut self, file: FileId, written: &TypeExpr, of: &str) -> Spanned<Type> {
        match &written.kind {
            TypeKind::Record(fields) => {
                let ty = self.record_in_place(file, fields, &format!("{of}-answer"));
                Spanned::new(ty, written.span)
            }
            _ => self.spanned_type(file, written),
        }
    }

    fn record_in_place(&mut self, file: FileId, fields: &[Field], name: &str) -> Type {
        for default in fields.iter().filter_map(|field| field.default.as_ref()) {
            let message = "a record without a name has no defaults";
            let help = "make the field a `T?`, or declare the record: `type NAME { .. }`";
            self.report(&codes::BAD_VALUE, message, default.span, help);
        }
        let params = self.params(file, fields, "field", true);
        let fields = self.record_fields(&params);
        let record = self.synthetic(name, fields);
        for param in params.iter().filter(|param| !param.marks.is_empty()) {
            let key = (record, param.name.node.clone());
            self.program.marked.insert(key, param.marks);
        }
        Type::Record(record)
    }

    /// `red | blue`, where both are names of nothing: texts without their quotes.
    fn bare_texts(
        &mut self,
        file: FileId,
        written: &TypeExpr,
        members: &[TypeExpr],
    ) -> Option<Type> {
        let known = self.names.get(file.0 as usize);
        let bare = |member: &TypeExpr| match &member.kind {
            TypeKind::Name(name)
                if name.starts_with(|c: char| c.is_ascii_lowercase())
                    && name != "null"
                    && !BUILT_IN.contains(&name.as_str())
                    && foreign::ty::kind(name).is_none()
                    && known.is_none_or(|names| !names.contains_key(name))
                    && name::closest(name, BUILT_IN.iter().copied()).is_none()
                    && !self.is_lost(file, name) =>
            {
                Some(name.clone())
            }
            _ => None,
        };
        let names: Vec<String> = members.iter().map(bare).collect::<Option<_>>()?;
        let texts: Vec<String> = names.iter().map(|name| format!("{name:?}")).collect();
        let texts = texts.join(" | ");
        let message = format!(
            "unknown types {}",
            name::list(names.iter().map(String::as_str))
        );
        let found = Diagnostic::new(&codes::UNKNOWN_TYPE, message, written.span);
        let found = found.help(format!("texts are written in quotes: `{texts}`"));
        self.diags.push(found.fix(written.span, texts));
        let literals = names.iter();
        Some(joined(
            literals.map(|name| Type::Literal(name.as_str().into())),
        ))
    }

    /// Reports a member of a union that is there already.
    fn members_once(&mut self, written: &[TypeExpr], found: &[Type]) {
        let mut seen: HashMap<&Type, Span> = HashMap::new();
        for (member, ty) in written.iter().zip(found) {
            if holds_error(ty) {
                continue;
            }
            let Some(first) = seen.get(ty).copied() else {
                seen.insert(ty, member.span);
                continue;
            };
            let shown = self.program.types.show(ty);
            let message = format!("member `{shown}` of the union is given twice");
            self.diags.push(
                Diagnostic::new(&codes::DUPLICATE_NAME, message, member.span)
                    .here("given again")
                    .label(first, "first given here")
                    .help("take one of the two out"),
            );
        }
    }

    fn generic(&mut self, name: &Name, of: Type) -> Type {
        match name.node.as_str() {
            "list" => Type::list(of),
            "map" => Type::map(of),
            other => {
                let message = format!("`{other}` takes no type in `<>`");
                let found = Diagnostic::new(&codes::UNKNOWN_TYPE, message, name.span);
                let kind = foreign::ty::kind(other);
                let own = match kind {
                    Some(Kind::List) => Some("list"),
                    Some(Kind::Map) => Some("map"),
                    _ => None,
                };
                let inner = self.program.types.show(&of).to_string();
                let known = !holds_error(&of);
                let (built, shown) = match kind {
                    Some(Kind::List) => (Type::list(of), None),
                    Some(Kind::Map) => (Type::map(of), None),
                    Some(Kind::Optional) => (Type::nullable(of), Some("?")),
                    Some(Kind::Wrapper) => (of, Some("")),
                    _ => (Type::Error, None),
                };
                self.diags.push(match (own, shown) {
                    (Some(own), _) => found
                        .help(format!("did you mean `{own}`?"))
                        .fix(name.span, own),
                    (_, Some(behind)) if known => found.help(format!("write `{inner}{behind}`")),
                    _ => found.help("`list<T>` and `map<T>` do"),
                });
                built
            }
        }
    }

    pub(super) fn named_type(&mut self, file: FileId, name: &Name) -> Type {
        if let Some(bound) = self.bound_type(name) {
            return bound;
        }
        match name.node.as_str() {
            "string" => Type::String,
            "int" => Type::Int,
            "float" => Type::Float,
            "bool" => Type::Bool,
            "json" => Type::Json,
            "timestamp" => Type::Timestamp,
            "duration" => Type::Duration,
            "message" => Type::Record(ty::MESSAGE),
            "null" => Type::Null,
            bare @ ("list" | "map") => {
                let message = format!("`{bare}` needs the type of its elements");
                let diagnostic = Diagnostic::new(&codes::UNKNOWN_TYPE, message, name.span);
                self.diags
                    .push(diagnostic.help(format!("write `{bare}<string>`, for example")));
                Type::Error
            }
            _ => match self.find(file, name, Wanted::Type) {
                Some(Definition::Record(id)) => Type::Record(id),
                Some(Definition::Enum(id)) => Type::Enum(id),
                Some(Definition::Alias(index)) => self.alias(index),
                _ => Type::Error,
            },
        }
    }

    /// Fields of a record, event or `input` block, or parameters: names once each, types, defaults.
    ///
    /// `outside` says whether their values may come from outside, so that bounds on them mean something.
    pub fn params(
        &mut self,
        file: FileId,
        fields: &[Field],
        what: &str,
        outside: bool,
    ) -> Vec<Param> {
        let mut seen = Seen::default();
        let mut params = Vec::new();
        self.other_names(fields);
        for field in fields {
            self.check_style(&field.name, Style::Snake);
            let ty = self.spanned_type(file, &field.ty);
            let place = match (what, outside) {
                ("parameter", true) => Place::Parameter,
                (_, true) => Place::Field,
                (_, false) => Place::Passing,
            };
            let bounds = self.bounds(&field.attributes, &ty.node, outside, place);
            let (marks, sink) = self.marks(&field.attributes, &ty.node, place);
            let default = field.default.as_ref().map(|e| self.expr(file, e));
            if !self.once(&mut seen, what, &field.name) {
                continue;
            }
            params.push(Param {
                name: field.name.clone(),
                doc: bounds.doc.unwrap_or_else(|| field.doc.clone()),
                ty,
                default,
                constraints: bounds.constraints,
                marks,
                sink,
                span: field.span,
            });
        }
        params
    }

    /// Refuses an attribute that is none of `words`.
    pub fn refuse_attribute(&mut self, attribute: &Attribute, words: &[&str]) {
        let word = attribute.name.node.as_str();
        let message = format!("unknown attribute `@{word}`");
        let known: Vec<String> = words.iter().map(|word| format!("@{word}")).collect();
        let other = foreign::attribute::meant(word, words);
        let near = name::closest(word, words.iter().copied());
        let help = match (other, near) {
            (Some(help), _) => help.to_owned(),
            (None, Some(near)) => format!("did you mean `@{near}`?"),
            (None, None) => format!(
                "known here are {}",
                name::few(known.iter().map(String::as_str))
            ),
        };
        let found = Diagnostic::new(&codes::UNKNOWN_ATTRIBUTE, message, attribute.span).help(help);
        let certain = name::certain(word, words.iter().copied()).filter(|_| other.is_none());
        let surplus = other.is_some_and(|help| help.starts_with("take it out"));
        self.diags.push(match certain {
            Some(meant) => found.fix(attribute.name.span, meant),
            None if surplus => found.fix(attribute.span, ""),
            None => found,
        });
    }
}

/// Whether a name in the type means nothing.
pub(super) fn holds_error(ty: &Type) -> bool {
    let mut open = vec![ty];
    while let Some(ty) = open.pop() {
        match ty {
            Type::Error => return true,
            Type::List(of) | Type::Map(of) | Type::Nullable(of) => open.push(of),
            Type::Union(members) => open.extend(members.iter()),
            _ => {}
        }
    }
    false
}
