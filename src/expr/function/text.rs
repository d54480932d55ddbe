//! The functions of `std/text`.

use similar::TextDiff;

use crate::value::Value;

use super::Row;
use super::args::{self, Computed};

/// Unchanged lines around a change.
const CONTEXT: usize = 3;

pub(super) const FUNCTIONS: &[Row] = &[Row::global(
    "unified_diff",
    &[
        "(string, string) -> string",
        "(string, string, string) -> string",
    ],
    unified_diff,
    "The lines that differ between an old and a new text, in the unified format with three lines \
         of context; empty where they are equal. A third argument names the file in the head.",
    r#"unified_diff("a\n", "b\n") == "@@ -1 +1 @@\n-a\n+b\n""#,
)
.of("std/text")];

fn unified_diff(args: &[Value]) -> Computed {
    let (old, new) = (args::text(args, 0)?, args::text(args, 1)?);
    let diff = TextDiff::from_lines(&**old, &**new);
    let mut unified = diff.unified_diff();
    unified.context_radius(CONTEXT);
    if args.len() > 2 {
        let name = args::text(args, 2)?;
        unified.header(&format!("a/{name}"), &format!("b/{name}"));
    }
    Ok(unified.to_string().into())
}
