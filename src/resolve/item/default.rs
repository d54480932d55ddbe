//! Defaults of record fields as JSON, in the order in which they need each other.

use std::collections::{BTreeSet, HashMap};

use serde_json::Value as Json;

use crate::ast::Name;
use crate::ast::expr::{Expr, ExprKind, RecordField};
use crate::base::Span;
use crate::diag::{Diagnostic, codes};
use crate::expr::infer::default_value;
use crate::expr::ty::RecordId;

use super::super::Resolver;
use super::super::order::behind_what_they_name;
use super::super::program::RecordDecl;

/// Most values that a default takes from defaults of other records. Where each record holds two of the one before, they
/// double with each line.
const MOST_TAKEN: usize = 1_000;

/// How deep a default may nest, so that readers of JSON, who take 128 levels, can take it with what is around it.
const MOST_LEVELS: usize = 100;

/// How far the defaults of a record are.
enum State {
    Open,
    Busy,
    /// How large each field's default is; none for a field without one.
    Done(Vec<Option<Size>>),
    /// They go beyond a bound, which is reported, or need some that do.
    Beyond,
}

/// How large the JSON of a default is.
#[derive(Debug, Clone, Copy, Default)]
struct Size {
    /// Its values, whatever they nest in.
    values: usize,
    /// How deep they nest.
    levels: usize,
    /// Those of the values that defaults of other records gave.
    taken: usize,
}

/// The records, and how far each is.
struct Records<'d> {
    decls: &'d [RecordDecl],
    /// Where a record is declared, or the one that it is a copy of.
    places: HashMap<RecordId, usize>,
    /// The copies of a record under other names.
    copies: HashMap<RecordId, Vec<RecordId>>,
    states: Vec<State>,
}

/// Why a default has no value.
enum Lost {
    /// It needs itself.
    Circular,
    /// It goes beyond a bound: what it does.
    Beyond(String),
    /// It needs one that goes beyond a bound.
    Behind,
}

impl Resolver<'_> {
    /// Fills in the defaults of all records, and of their copies. A literal in a default takes the defaults of its own
    /// record, so those come first; a default that needs itself has no end and is reported.
    pub fn record_defaults(&mut self) {
        let decls = std::mem::take(&mut self.program.records);
        let own = decls.iter().enumerate().map(|(at, decl)| (decl.id, at));
        let mut records = Records {
            decls: &decls,
            places: own.collect(),
            copies: HashMap::new(),
            states: decls.iter().map(|_| State::Open).collect(),
        };
        for (copy, original) in std::mem::take(&mut self.record_copies) {
            if let Some(at) = records.places.get(&original).copied() {
                records.places.insert(copy, at);
            }
            records.copies.entry(original).or_default().push(copy);
        }
        for index in 0..decls.len() {
            behind_what_they_name(
                index,
                &mut (&mut *self, &mut records),
                |(resolver, records), index| resolver.begin_defaults(index, records),
                |(resolver, records), index| {
                    records.states[index] = resolver.fill(index, records);
                },
            );
        }
        self.program.records = decls;
    }

    /// Begins a record that is open yet; the records that its defaults need.
    fn begin_defaults(&self, index: usize, records: &mut Records) -> Option<Vec<usize>> {
        let State::Open = records.states[index] else {
            return None;
        };
        records.states[index] = State::Busy;
        let fields = &records.decls[index].fields;
        let mut needed = Vec::new();
        for default in fields.iter().filter_map(|field| field.default.as_ref()) {
            literals(default, &mut |name| {
                needed.extend(self.place(name, records))
            });
        }
        Some(needed)
    }

    /// Where the record of a literal is declared.
    fn place(&self, name: &Name, records: &Records) -> Option<usize> {
        let id = self.program.types.record_named(&name.node)?;
        records.places.get(&id).copied()
    }

    /// Writes the defaults of a record, and of its copies, into the table.
    fn fill(&mut self, index: usize, records: &Records) -> State {
        let decl = &records.decls[index];
        let mut sizes = Vec::new();
        let mut beyond = false;
        for (i, param) in decl.fields.iter().enumerate() {
            let Some(default) = &param.default else {
                sizes.push(None);
                continue;
            };
            let found = self.size(default, records);
            if let Err(lost) = &found {
                let found = lost.report(&param.name, default.span);
                // Of several that go beyond a bound the first is enough.
                let found = found.filter(|_| !beyond || matches!(lost, Lost::Circular));
                found.into_iter().for_each(|found| self.diags.push(found));
                beyond |= !matches!(lost, Lost::Circular);
            }
            let value = match found {
                // Some value, so that it isn't missing where the record is made.
                Err(_) => Some(Json::Null),
                Ok(_) => default_value(default, &param.ty.node, &self.program.types),
            };
            sizes.push(value.as_ref().map(|_| found.unwrap_or_default()));
            if let Some(field) = self.program.types.records[decl.id].fields.get_mut(i) {
                field.default = value;
            }
        }
        for copy in records.copies.get(&decl.id).into_iter().flatten() {
            let fields = self.program.types.records[decl.id].fields.clone();
            self.program.types.records[*copy].fields = fields;
        }
        match beyond {
            true => State::Beyond,
            false => State::Done(sizes),
        }
    }

    /// How large the JSON of a default becomes. Goes as deep as the expression nests.
    fn size(&self, default: &Expr, records: &Records) -> Result<Size, Lost> {
        let size = self.size_of(default, records)?;
        if size.levels > MOST_LEVELS {
            let what = format!("nests more than {MOST_LEVELS} levels deep");
            return Err(Lost::Beyond(what));
        }
        if size.taken > MOST_TAKEN {
            let what = format!("takes more than {MOST_TAKEN} values from defaults of records");
            return Err(Lost::Beyond(what));
        }
        Ok(size)
    }

    fn size_of(&self, expr: &Expr, records: &Records) -> Result<Size, Lost> {
        let mut all = Size::default();
        match &expr.kind {
            ExprKind::List(elements) => {
                for element in elements {
                    all.hold(self.size_of(&element.value, records)?);
                }
            }
            ExprKind::Map(entries) => {
                for entry in entries {
                    all.hold(self.size_of(&entry.value, records)?);
                }
            }
            ExprKind::Record { name, fields } => {
                for field in fields {
                    all.hold(self.size_of(&field.value, records)?);
                }
                if let Some(at) = self.place(name, records) {
                    self.take(at, fields, records, &mut all)?;
                }
            }
            _ => {}
        }
        all.values += 1;
        all.levels += 1;
        Ok(all)
    }

    /// Adds the defaults of the fields of a record that are not given.
    fn take(
        &self,
        at: usize,
        given: &[RecordField],
        records: &Records,
        all: &mut Size,
    ) -> Result<(), Lost> {
        let sizes = match &records.states[at] {
            State::Open | State::Busy => return Err(Lost::Circular),
            State::Beyond => return Err(Lost::Behind),
            State::Done(sizes) => sizes,
        };
        let given: BTreeSet<&str> = given.iter().map(|field| field.name.as_str()).collect();
        for (field, size) in records.decls[at].fields.iter().zip(sizes) {
            if let Some(size) = size.filter(|_| !given.contains(field.name.as_str())) {
                all.hold(Size {
                    taken: size.values,
                    ..size
                });
            }
        }
        Ok(())
    }
}

impl Size {
    /// Adds a value that stands in this one.
    fn hold(&mut self, part: Size) {
        self.values += part.values;
        self.taken += part.taken;
        self.levels = self.levels.max(part.levels);
    }
}

impl Lost {
    /// What is said of it; nothing where it is said of another default.
    fn report(&self, field: &Name, span: Span) -> Option<Diagnostic> {
        let field = &field.node;
        match self {
            Lost::Circular => {
                let message = format!("the default of `{field}` needs itself");
                Some(Diagnostic::new(&codes::CIRCULAR_TYPE, message, span))
            }
            Lost::Beyond(what) => {
                let message = format!("the default of `{field}` {what}");
                let help = "leave this default out, or one of those that it takes, and give the value where one is made";
                Some(Diagnostic::new(&codes::LIMIT_EXCEEDED, message, span).help(help))
            }
            Lost::Behind => None,
        }
    }
}

/// Calls for the names of the record literals of a constant.
fn literals<'e>(expr: &'e Expr, found: &mut impl FnMut(&'e Name)) {
    match &expr.kind {
        ExprKind::List(elements) => {
            elements
                .iter()
                .for_each(|element| literals(&element.value, found));
        }
        ExprKind::Map(entries) => {
            entries
                .iter()
                .for_each(|entry| literals(&entry.value, found));
        }
        ExprKind::Record { name, fields } => {
            found(name);
            fields
                .iter()
                .for_each(|field| literals(&field.value, found));
        }
        _ => {}
    }
}
