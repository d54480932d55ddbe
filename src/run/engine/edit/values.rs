//! Values of an edit: checked as an input's are.

use crate::base::name::{closest, list};
use crate::expr::accept::accept;
use crate::ir::{FieldId, Graph};
use crate::run::channel::Incoming;

use super::super::{Engine, StartError};
use super::{Written, editable};

impl Engine {
    /// What an edit writes, each value of its field's type. Bounds are the reducers' to check.
    ///
    /// # Errors
    /// Where a field is unknown or kept nowhere, or a value is of another type: all that is wrong at once.
    pub(super) fn values(
        &self,
        graph: &Graph,
        writes: &[Written],
    ) -> Result<Vec<(FieldId, Incoming)>, StartError> {
        let mut problems = Vec::new();
        let mut values = Vec::new();
        for write in writes {
            let Some(id) = graph.field(&write.field) else {
                problems.push(unknown(graph, &write.field));
                continue;
            };
            let field = &graph.fields[id];
            if field.untracked {
                problems.push(format!(
                    "field `{}` is `untracked`: no checkpoint keeps it, so that an edit of it would be lost",
                    field.name
                ));
                continue;
            }
            let ty = match write.replace {
                true => &field.ty,
                false => self.plan.flow.write_type(field),
            };
            match accept(&write.value, ty, &self.plan.flow.types) {
                Ok(value) => values.push((
                    id,
                    Incoming {
                        value,
                        replace: write.replace,
                    },
                )),
                Err(wrong) => {
                    problems.extend(wrong.iter().map(|m| format!("field `{}`: {m}", field.name)));
                }
            }
        }
        match problems.is_empty() {
            true => Ok(values),
            false => Err(StartError::refused(problems.join("\n"))),
        }
    }
}

fn unknown(graph: &Graph, name: &str) -> String {
    let hint = match closest(name, editable(graph)) {
        Some(near) => format!("; did you mean `{near}`?"),
        None => format!("; it has {}", list(editable(graph))),
    };
    format!("graph `{}` has no field `{name}`{hint}", graph.name)
}
