//! Every flow that the benches measure (`benches/shapes`) is what its writer meant it to be: none has a slip in its syntax
//! that is not its point, and those without errors have their IR.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

#[path = "../benches/shapes/mod.rs"]
mod shapes;

use graphc::compile::compile;
use shapes::FILE;

#[test]
fn every_shape_is_what_it_is_meant_to_be() {
    for shape in shapes::all() {
        let compiled = compile(FILE, &shape.files(6));
        let errors = compiled.diagnostics.has_errors();
        let syntax = compiled.diagnostics.iter().find(|found| {
            found.code.slug == "syntax-error" && !shape.name.starts_with("wrong_syntax")
        });
        assert!(syntax.is_none(), "{shape}: {syntax:?}");
        assert_eq!(compiled.flow.is_some(), !errors, "{shape}");
    }
}
