//! Records that no value can ever be made of, since each needs another one first.

use std::collections::{BTreeMap, BTreeSet};

use crate::diag::{Diagnostic, codes};
use crate::expr::ty::{RecordId, Type};

use super::super::Resolver;
use super::super::program::Param;

impl Resolver<'_> {
    /// Reports `type A { a: A }` and longer cycles, each once.
    pub fn endless_records(&mut self) {
        let finite = self.finite_records();
        let declared = self.declared_at();
        let mut seen: BTreeSet<RecordId> = BTreeSet::new();
        for start in 0..self.program.records.len() {
            let mut path: Vec<(RecordId, &Param)> = Vec::new();
            let mut next = self.program.records.get(start).map(|decl| decl.id);
            while let Some(id) = next.filter(|id| !seen.contains(id)) {
                seen.insert(id);
                let decl = declared
                    .get(&id)
                    .and_then(|at| self.program.records.get(*at));
                let needs = |param: &&Param| !is_finite(param, &finite);
                let Some(field) = decl.and_then(|decl| decl.fields.iter().find(needs)) else {
                    break;
                };
                path.push((id, field));
                next = needed(&field.ty.node, &finite);
            }
            let closed = path.iter().position(|(id, _)| Some(*id) == next);
            if let Some(cycle) = closed.and_then(|from| path.get(from..)) {
                let found = self.endless(cycle);
                found.into_iter().for_each(|found| self.diags.push(found));
            }
        }
    }

    fn endless(&self, cycle: &[(RecordId, &Param)]) -> Option<Diagnostic> {
        let ((id, field), rest) = cycle.split_first()?;
        let name = &self.program.types.records.get(*id)?.name;
        let message = format!(
            "no value of type `{name}` can be made: `{}` needs one first",
            field.name.node
        );
        let mut found = Diagnostic::new(&codes::CIRCULAR_TYPE, message, field.name.span);
        for (_, field) in rest {
            found = found.label(field.ty.span, "which needs this one");
        }
        let ty = self.program.types.show(&field.ty.node);
        Some(found.help(format!("let it end: `{ty}?` or `list<{ty}>`")))
    }

    /// Position of each record among the declared ones.
    fn declared_at(&self) -> BTreeMap<RecordId, usize> {
        let records = self.program.records.iter().enumerate();
        records.map(|(at, decl)| (decl.id, at)).collect()
    }

    /// For each record whether a value of it can be made: found from those that need no other on.
    fn finite_records(&self) -> Vec<bool> {
        let count = self.program.types.records.len();
        let mut finite = vec![true; count];
        let mut lacking = vec![0; count];
        // By record: the fields that need a value of it, or of one of several, as numbers.
        let mut needing: Vec<Vec<usize>> = vec![Vec::new(); count];
        // By field: whose it is, and whether it still lacks a value.
        let mut fields: Vec<(usize, bool)> = Vec::new();
        for decl in &self.program.records {
            let id = decl.id.0 as usize;
            for param in decl.fields.iter().filter(|param| param.default.is_none()) {
                let needed = of_records(&param.ty.node);
                if needed.is_empty() {
                    continue;
                }
                for id in needed {
                    needing[id.0 as usize].push(fields.len());
                }
                fields.push((id, true));
                lacking[id] += 1;
            }
            finite[id] = false;
        }
        let declared = self.program.records.iter();
        let begun = declared.map(|decl| decl.id.0 as usize);
        let mut open: Vec<usize> = begun.filter(|id| lacking[*id] == 0).collect();
        open.iter().for_each(|id| finite[*id] = true);
        // Those that are not declared can be made from the start.
        open.extend((0..count).filter(|id| finite[*id] && lacking[*id] == 0));
        while let Some(id) = open.pop() {
            for field in std::mem::take(&mut needing[id]) {
                let (user, lacks) = fields[field];
                fields[field].1 = false;
                lacking[user] -= usize::from(lacks);
                if lacks && lacking[user] == 0 {
                    finite[user] = true;
                    open.push(user);
                }
            }
        }
        finite
    }
}

/// The records of one of which every value of a type needs one; none where it can do without.
fn of_records(ty: &Type) -> Vec<RecordId> {
    match ty {
        Type::Record(id) => vec![*id],
        Type::Union(members) => {
            let ids = members.iter().map(|member| match member {
                Type::Record(id) => Some(*id),
                _ => None,
            });
            ids.collect::<Option<Vec<_>>>().unwrap_or_default()
        }
        _ => Vec::new(),
    }
}

/// A default that needs its own record is reported as such.
fn is_finite(param: &Param, finite: &[bool]) -> bool {
    param.default.is_some() || needed(&param.ty.node, finite).is_none()
}

/// The record without a value that every value of a type needs.
fn needed(ty: &Type, finite: &[bool]) -> Option<RecordId> {
    match ty {
        Type::Record(id) => (finite.get(id.0 as usize) == Some(&false)).then_some(*id),
        Type::Union(members) => {
            let needs: Option<Vec<RecordId>> = members.iter().map(|m| needed(m, finite)).collect();
            needs?.first().copied()
        }
        _ => None,
    }
}
