//! Whether every value of a type of one version is one of a type of another.

use std::collections::BTreeSet;

use crate::base::name::list;
use crate::expr::constraint::Constraints;
use crate::expr::ty::{EnumType, Record, RecordField, RecordId, Type, TypeTable};

/// How a value of one version comes to the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// A thread has it: nothing is left out, and nothing unknown may be in it.
    Stored,
    /// It comes from outside: what has a default may be left out.
    Given,
    /// It goes outside: whoever reads it passes over what is new in it.
    Taken,
}

/// Says why not every value of `from` is one of `to`.
///
/// # Errors
/// The first reason, in words.
pub(super) fn assignable(
    from: (&TypeTable, &Type),
    to: (&TypeTable, &Type),
    used: Use,
) -> Result<(), String> {
    let mut types = Comparison {
        from: from.0,
        to: to.0,
        used,
        seen: BTreeSet::new(),
        waiting: Vec::new(),
    };
    types.ty(from.1, to.1)?;
    // Records are taken to fit when they are met and looked at here, so that a chain of a thousand records
    // needs no stack.
    while let Some((from, to)) = types.waiting.pop() {
        types.record(from, to)?;
    }
    Ok(())
}

struct Comparison<'t> {
    from: &'t TypeTable,
    to: &'t TypeTable,
    used: Use,
    seen: BTreeSet<(RecordId, RecordId)>,
    waiting: Vec<(RecordId, RecordId)>,
}

impl Comparison<'_> {
    /// Goes as deep as brackets nest in a type.
    fn ty(&mut self, from: &Type, to: &Type) -> Result<(), String> {
        match (from, to) {
            (_, Type::Json | Type::Error) | (Type::Never | Type::Error, _) => Ok(()),
            (Type::Null, to) if to.admits_null() => Ok(()),
            (Type::Nullable(of), to) if to.admits_null() => self.ty(of, &to.without_null()),
            (Type::Nullable(_), _) => Err(match self.used {
                Use::Taken => "it may be null now".to_owned(),
                _ => "it may be null, which is refused now".to_owned(),
            }),
            (from, Type::Nullable(of)) => self.ty(from, of),
            (from, Type::Union(members)) if is_text(from) && !members.contains(&Type::String) => {
                self.words(from, to)
            }
            (Type::Union(members), to) => members.iter().try_for_each(|from| self.ty(from, to)),
            (from, Type::Union(members)) => self.one_of(from, members),
            (Type::List(from), Type::List(to)) | (Type::Map(from), Type::Map(to)) => {
                self.ty(from, to)
            }
            (Type::Record(from), Type::Record(to)) => {
                if self.seen.insert((*from, *to)) {
                    self.waiting.push((*from, *to));
                }
                Ok(())
            }
            (Type::Enum(_), Type::Enum(_) | Type::Literal(_))
            | (Type::Literal(_), Type::Enum(_)) => self.words(from, to),
            (Type::Int, Type::Float)
            | (Type::Literal(_) | Type::Enum(_), Type::String)
            | (Type::Timestamp | Type::Duration, Type::String) => Ok(()),
            (from, to) if from == to => Ok(()),
            _ => Err(format!(
                "`{}` is no `{}`",
                self.from.show(from),
                self.to.show(to)
            )),
        }
    }

    /// One member of a union that takes the type. Of several records the one of the same name, else the
    /// first, is meant.
    fn one_of(&mut self, from: &Type, members: &[Type]) -> Result<(), String> {
        let name = |table: &TypeTable, ty: &Type| table.show(ty).to_string();
        let wanted = name(self.from, from);
        let same = members.iter().find(|to| name(self.to, to) == wanted);
        let mut in_turn = same.into_iter().chain(members);
        if in_turn.any(|to| self.ty(from, to).is_ok()) {
            return Ok(());
        }
        let union = Type::Union(members.into());
        Err(format!("`{wanted}` is no `{}`", self.to.show(&union)))
    }

    /// Texts that are members of an enum or literals.
    fn words(&self, from: &Type, to: &Type) -> Result<(), String> {
        let known: BTreeSet<String> = words_of(self.to, to).into_iter().collect();
        let gone = words_of(self.from, from).into_iter();
        let mut gone: Vec<String> = gone.filter(|word| !known.contains(word)).collect();
        if self.used != Use::Taken {
            // From outside and out of a store, texts mean members by their aliases too, whichever letters are capital.
            let meant: BTreeSet<String> = outer_words(self.to, to).collect();
            if self.used == Use::Given {
                gone.extend(aliases_of(self.from, from));
            }
            gone.retain(|word| !meant.contains(&word.to_lowercase()));
        }
        match gone.as_slice() {
            [] => Ok(()),
            gone => {
                let gone = list(gone.iter().map(String::as_str));
                Err(match self.used {
                    Use::Taken => format!("it may be {gone} now"),
                    _ => format!("{gone} can't be a value any more"),
                })
            }
        }
    }

    fn record(&mut self, from: RecordId, to: RecordId) -> Result<(), String> {
        let (Some(from), Some(to)) = (self.from.records.get(from), self.to.records.get(to)) else {
            return Ok(());
        };
        for field in &to.fields {
            let name = format!("`{}.{}`", to.name, field.name);
            match from.fields.iter().find(|f| self.is_one(to, f, field)) {
                Some(known) => {
                    self.ty(&known.ty, &field.ty)
                        .map_err(|why| format!("{name}: {why}"))?;
                    self.asks(to, (known, field))
                        .map_err(|why| format!("{name}: {why}"))?;
                }
                None if self.used == Use::Taken && !field.required() => {}
                None if self.used == Use::Taken => return Err(format!("{name} is gone")),
                None if field.required() => {
                    return Err(format!("{name} is new and has no default"));
                }
                None => {}
            }
        }
        let gone = from
            .fields
            .iter()
            .find(|f| !to.fields.iter().any(|field| self.is_one(to, f, field)));
        match gone {
            Some(field) if self.used != Use::Taken => {
                Err(format!("`{}.{}` is gone", from.name, field.name))
            }
            _ => Ok(()),
        }
    }

    /// Whether what an old field's name gave is read as the new field, which may know it by its `@alias`. What goes
    /// outside has a field's own name.
    fn is_one(&self, new: &Record, from: &RecordField, to: &RecordField) -> bool {
        match self.used {
            Use::Taken => from.name == to.name,
            Use::Stored | Use::Given => means(new, &from.name, to),
        }
    }

    /// Whether a field asks no more of its values than it did.
    fn asks(
        &self,
        record: &Record,
        (from, to): (&RecordField, &RecordField),
    ) -> Result<(), String> {
        if self.used == Use::Taken {
            return match tighter(&from.constraints, &to.constraints).first() {
                Some(which) => Err(format!("its `@{which}` allows more than before")),
                None => Ok(()),
            };
        }
        if self.used == Use::Given && to.required() && !from.required() {
            return Err("it can't be left out any more".to_owned());
        }
        let (old, new) = (&from.constraints, &to.constraints);
        let alias = old.alias.as_deref();
        if alias.is_some_and(|alias| !means(record, alias, to)) {
            return Err("it has another `@alias`".to_owned());
        }
        match tighter(old, new).first() {
            Some(which) => Err(format!("its `@{which}` refuses more than before")),
            None => Ok(()),
        }
    }
}

/// Whether a name in a value from outside, or out of a store, means a field of a record: its outer name, or its own where
/// that is no other field's outer one.
fn means(record: &Record, name: &str, field: &RecordField) -> bool {
    let others = || record.fields.iter().any(|other| other.outer_name() == name);
    field.outer_name() == name || (field.name == name && !others())
}

/// The enums of a type of texts.
fn enums_of<'t>(table: &'t TypeTable, ty: &'t Type) -> impl Iterator<Item = &'t EnumType> {
    let members = match ty {
        Type::Union(members) => members,
        other => std::slice::from_ref(other),
    };
    members.iter().filter_map(|member| match member {
        Type::Enum(id) => table.enums.get(*id),
        _ => None,
    })
}

/// Texts from outside that mean a member of an enum, and aren't its name.
fn aliases_of<'t>(table: &'t TypeTable, ty: &'t Type) -> impl Iterator<Item = String> {
    let members = enums_of(table, ty).flat_map(|declared| &declared.members);
    members.flat_map(|member| member.aliases.iter().cloned())
}

/// All texts from outside that mean a member of an enum, in small letters.
fn outer_words<'t>(table: &'t TypeTable, ty: &'t Type) -> impl Iterator<Item = String> {
    let members = enums_of(table, ty).flat_map(|declared| &declared.members);
    members.flat_map(|member| {
        let all = std::iter::once(&member.name).chain(&member.aliases);
        all.map(|word| word.to_lowercase())
    })
}

fn is_text(ty: &Type) -> bool {
    match ty {
        Type::Union(members) => members.iter().all(is_text),
        ty => matches!(ty, Type::Enum(_) | Type::Literal(_)),
    }
}

/// The texts that a type of texts has.
fn words_of(table: &TypeTable, ty: &Type) -> Vec<String> {
    let members = match ty {
        Type::Union(members) => members,
        other => std::slice::from_ref(other),
    };
    let mut words = Vec::new();
    for member in members {
        match member {
            Type::Literal(word) => words.push(word.to_string()),
            Type::Enum(id) => {
                let declared = table.enums.get(*id).map(|declared| &declared.members);
                words.extend(declared.into_iter().flatten().map(|m| m.name.clone()));
            }
            _ => {}
        }
    }
    words
}

/// Constraints that refuse what they took before.
pub(super) fn tighter(old: &Constraints, new: &Constraints) -> Vec<&'static str> {
    let mut tighter = Vec::new();
    let number = |n: &Option<serde_json::Number>| n.as_ref().and_then(serde_json::Number::as_f64);
    if let Some(min) = number(&new.min)
        && number(&old.min).is_none_or(|old| old < min)
    {
        tighter.push("min");
    }
    if let Some(max) = number(&new.max)
        && number(&old.max).is_none_or(|old| old > max)
    {
        tighter.push("max");
    }
    if let Some((least, most)) = new.len
        && old.len.is_none_or(|(l, m)| l < least || m > most)
    {
        tighter.push("len");
    }
    if new.pattern.is_some() && new.pattern != old.pattern {
        tighter.push("pattern");
    }
    tighter
}
