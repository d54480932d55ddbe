//! Records that no value can ever be made of, since each needs another one first.

use std::collections::{BTreeMap, BTreeSet};

use crate::diag::{Diagnostic, codes};
use crate::expr::ty::{RecordId, Type};

use super::super::Resolver;
use super::super::program::Param;

impl Resolver<'_> {
    /// Reports `type A { a: A }` and longer circles, each once.
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
            if let Some(circle) = closed.and_then(|from| path.get(from..)) {
                let found = self.endless(circle);
                found.into_iter().for_each(|found| self.diags.push(found));
            }
        }
    }

    fn endless(&self, circle: &[(RecordId, &Param)]) -> Option<Diagnostic> {
        let ((id, field), rest) = circle.split_first()?;
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
        let places = self.declared_at();
        let declared = |id: usize| {
            let at = places.get(&RecordId(u32::try_from(id).ok()?))?;
            self.program.records.get(*at)
        };
        let mut finite: Vec<bool> = (0..self.program.types.records.len())
            .map(|id| declared(id).is_none())
            .collect();
        loop {
            let more: Vec<usize> = (0..finite.len())
                .filter(|id| finite.get(*id) == Some(&false))
                .filter(|id| {
                    declared(*id)
                        .is_some_and(|decl| decl.fields.iter().all(|f| is_finite(f, &finite)))
                })
                .collect();
            if more.is_empty() {
                return finite;
            }
            for id in more {
                finite
                    .iter_mut()
                    .skip(id)
                    .take(1)
                    .for_each(|known| *known = true);
            }
        }
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
