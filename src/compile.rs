//! From files to IR: the stages of the compiler, one after the other.

use crate::base::SourceMap;
use crate::diag::Diagnostics;
use crate::ir::Flow;
use crate::lint::model::Families;
use crate::resolve::Loader;

/// What came of a compilation.
#[derive(Debug, Clone)]
pub struct Compiled {
    /// The flow; only where nothing is an error.
    pub flow: Option<Flow>,
    /// Every text that was read, for places.
    pub sources: SourceMap,
    /// All findings, ordered by place.
    pub diagnostics: Diagnostics,
}

/// Compiles the flow whose first file is `entry`, a path relative to the project's folder.
pub fn compile(entry: &str, loader: &dyn Loader) -> Compiled {
    compile_knowing(entry, loader, &Families::default())
}

/// The same, with what the project knows of its models.
pub fn compile_knowing(entry: &str, loader: &dyn Loader, families: &Families) -> Compiled {
    crate::base::name::afresh();
    let mut diagnostics = Diagnostics::new();
    let (program, sources) = crate::resolve::resolve(entry, loader, &mut diagnostics);
    let checked = crate::check::check(&program, &sources, &mut diagnostics);
    crate::lint::lint(&program, &sources, families, &mut diagnostics);
    crate::check::aftermath::settle(&program, &sources, &mut diagnostics);
    let flow =
        (!diagnostics.has_errors()).then(|| crate::lower::lower(&program, &checked, &sources));
    diagnostics.sort();
    Compiled {
        flow,
        sources,
        diagnostics,
    }
}
