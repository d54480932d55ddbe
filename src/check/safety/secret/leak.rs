//! What is said of a secret that is shown. One write that lets it out is said once, however often the field is shown.

use std::collections::BTreeMap;

use crate::base::Span;
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::resolve::program::Program;

use super::super::origin::Trail;
use super::handed::{Handed, Kept};

/// A place that shows a secret.
struct Leak {
    trail: Trail,
    /// To whom: `to a person at \`ask\``.
    to: String,
    /// What is said where it is shown straight from its field.
    whole: String,
}

/// All places found.
#[derive(Default)]
pub struct Leaks {
    found: Vec<Leak>,
}

const MEND: &str = "pass a secret to tools only, or show a part of the value that is none";

impl Leaks {
    /// Adds a place.
    pub fn add(&mut self, trail: Trail, to: String, whole: String) {
        self.found.push(Leak { trail, to, whole });
    }

    /// Reports them: at the write that lets the secret out, else where it is shown.
    pub fn report(self, program: &Program, diags: &mut Diagnostics) {
        if self.found.is_empty() {
            return;
        }
        let handed = Handed::new(program);
        let mut by_write: BTreeMap<(Span, Span), usize> = BTreeMap::new();
        let mut all: Vec<Diagnostic> = Vec::new();
        for leak in self.found {
            let mut writes = leak.trail.through.iter();
            let out = writes.find_map(|(span, _)| match handed.of(*span) {
                Some(Kept::Shown(field)) => Some((*span, field)),
                Some(Kept::Handed) | None => None,
            });
            let Some((place, field)) = out else {
                all.push(straight(&leak));
                continue;
            };
            let shown = format!("shown {}", leak.to);
            match by_write.get(&(place, leak.trail.source.0)) {
                Some(at) => {
                    if let Some(found) = all.get_mut(*at) {
                        *found = found.clone().label(leak.trail.read, shown);
                    }
                }
                None => {
                    by_write.insert((place, leak.trail.source.0), all.len());
                    let found = by_way_of(&leak, place, field);
                    all.push(found.label(leak.trail.read, shown));
                }
            }
        }
        all.into_iter().for_each(|found| diags.push(found));
    }
}

fn straight(leak: &Leak) -> Diagnostic {
    let found = Diagnostic::new(&codes::SECRET_SHOWN, leak.whole.clone(), leak.trail.read);
    leak.trail.label(found).help(MEND)
}

fn by_way_of(leak: &Leak, place: Span, field: &str) -> Diagnostic {
    let trail = &leak.trail;
    let source = &trail.source.1;
    let message = format!(
        "{source}, and goes into `{field}`, which is shown {}",
        leak.to
    );
    let found = Diagnostic::new(&codes::SECRET_SHOWN, message, place);
    trail.label(found).help(MEND)
}
