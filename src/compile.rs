//! From files to IR: the stages of the compiler, one after the other.

use std::convert::Infallible;

use crate::base::SourceMap;
use crate::check::Checked;
use crate::diag::Diagnostics;
use crate::ir::Flow;
use crate::lint::model::Families;
use crate::resolve::{Loader, Program};

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
    let analysis = analyse(entry, loader, &Families::default());
    Compiled {
        flow: analysis.flow(),
        sources: analysis.sources,
        diagnostics: analysis.diagnostics,
    }
}

/// A flow of which is known what is wrong with it; lowered only where somebody wants its IR.
#[derive(Debug)]
pub struct Analysis {
    /// Every text that was read, for places.
    pub sources: SourceMap,
    /// All findings, ordered by place.
    pub diagnostics: Diagnostics,
    program: Program,
    checked: Checked,
}

impl Analysis {
    /// The resolved program, also where something is wrong with it.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The IR; only where nothing is an error.
    pub fn flow(&self) -> Option<Flow> {
        let right = !self.diagnostics.has_errors();
        right.then(|| crate::lower::lower(&self.program, &self.checked, &self.sources))
    }
}

/// Why there is no [`Analysis`]: it was cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the compilation was cancelled")]
pub struct Cancelled;

/// All stages but the last. `families` is what the project knows of its models.
pub fn analyse(entry: &str, loader: &dyn Loader, families: &Families) -> Analysis {
    let go_on = || Ok::<_, Infallible>(());
    let Ok(analysis) = stages(entry, loader, families, &go_on);
    analysis
}

/// The same for who may soon want another one, such as an editor. `is_cancelled` is asked before each stage, and in the
/// longest before each graph.
///
/// # Errors
/// [`Cancelled`] where it said so.
pub fn analyse_unless(
    is_cancelled: &dyn Fn() -> bool,
    entry: &str,
    loader: &dyn Loader,
    families: &Families,
) -> Result<Analysis, Cancelled> {
    let go_on = || match is_cancelled() {
        true => Err(Cancelled),
        false => Ok(()),
    };
    stages(entry, loader, families, &go_on)
}

/// The stages, each where `go_on` lets it.
fn stages<C>(
    entry: &str,
    loader: &dyn Loader,
    families: &Families,
    go_on: &dyn Fn() -> Result<(), C>,
) -> Result<Analysis, C> {
    go_on()?;
    let mut diagnostics = Diagnostics::new();
    let (program, sources) = crate::resolve::resolve(entry, loader, &mut diagnostics);
    let checked = crate::check::check(&program, &sources, go_on, &mut diagnostics)?;
    go_on()?;
    crate::lint::lint(&program, &sources, families, &mut diagnostics);
    crate::check::cascade::settle(&program, &sources, &mut diagnostics);
    crate::check::library::callers_first(&program, &checked, &mut diagnostics);
    crate::parse::in_whole(&sources, &mut diagnostics);
    diagnostics.sort();
    Ok(Analysis {
        sources,
        diagnostics,
        program,
        checked,
    })
}

/// Whoever compiles may do so on any thread, and hand what came of it to another.
const _: () = {
    const fn sent_and_shared<T: Send + Sync>() {}
    sent_and_shared::<Analysis>();
    sent_and_shared::<Compiled>();
};
