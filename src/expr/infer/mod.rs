//! Static types of expressions: what each is, and what can't be.
//!
//! [`infer`] is the stage. It goes both ways: a type is inferred from the leaves up, and what is expected is
//! handed down, so that `[]` and `{}` get a type and a wrong element is blamed itself, not the list around it.
//! A `T?` is narrowed to `T` below a condition that has shown it ([`facts`]). What is already reported is
//! [`Type::Error`], which goes with everything: one mistake makes one message.
//!
//! Reading order: [`checker`] (the walk), a file for each form of expression, [`relation`] and [`join`](mod@join)
//! (how types go together), [`narrow`], [`signature`] and [`overload`] (calls), [`macros`]. [`reads`](fn@reads) and
//! [`constant`](fn@constant) answer questions of other stages.

mod call;
mod checker;
mod compare;
mod constant;
mod content;
mod doomed;
mod effect;
mod either;
mod format;
mod index;
mod join;
mod literal;
pub(crate) mod macros;
mod mismatch;
mod name;
mod narrow;
mod null;
mod numbered;
mod operator;
mod overload;
mod path;
mod placeholder;
mod reads;
mod record;
mod refusal;
mod relation;
mod select;
mod signature;
mod template;
mod usage;
mod with;

use crate::ast::expr::Expr;
use crate::diag::Diagnostics;

use super::scope::Scope;
use super::ty::{Type, TypeTable};

pub use checker::{Checker, Taker};
pub use constant::{constant, default_value};
pub use doomed::{doomed, never_finite};
pub use either::{has_field, narrowed};
pub use join::{join, widen};
pub use narrow::{Known, Narrowing, facts};
pub use overload::called;
pub use path::{access_path, path};
pub(in crate::expr) use reads::ReadsCollector;
pub use reads::{Reads, reads};
pub use relation::{assignable, overlaps};
pub(in crate::expr) use usage::counted;

/// The type of an expression in a scope.
///
/// With `expected`, a value that doesn't fit is reported at the part that is to blame; the answer is then
/// [`Type::Error`] (as it is after every other report about the expression as a whole). To begin
/// with places known not to be null, use [`Checker::knowing`].
pub fn infer(
    expr: &Expr,
    scope: &Scope,
    types: &TypeTable,
    expected: Option<&Type>,
    diags: &mut Diagnostics,
) -> Type {
    Checker::new(scope, types, diags).infer(expr, expected)
}
