//! From files to IR: the stages of the compiler, one after the other.

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
    compile_knowing(entry, loader, &Families::default())
}

/// The same, with what the project knows of its models.
pub fn compile_knowing(entry: &str, loader: &dyn Loader, families: &Families) -> Compiled {
    let analysis = analyse(entry, loader, families);
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

    /// The findings. All else is let go on a thread of its own: that of a large flow takes a while, and nobody waits
    /// for it.
    pub fn into_diagnostics(self) -> Diagnostics {
        let Self {
            diagnostics,
            program,
            checked,
            sources,
        } = self;
        let rest = (program, checked, sources);
        // Where there is no thread to be had, it goes here.
        let _ = std::thread::Builder::new().spawn(move || drop(rest));
        diagnostics
    }
}

/// All stages but the last.
pub fn analyse(entry: &str, loader: &dyn Loader, families: &Families) -> Analysis {
    crate::base::name::afresh();
    let mut diagnostics = Diagnostics::new();
    let (program, sources) = crate::resolve::resolve(entry, loader, &mut diagnostics);
    let checked = crate::check::check(&program, &sources, &mut diagnostics);
    crate::lint::lint(&program, &sources, families, &mut diagnostics);
    crate::check::cascade::settle(&program, &sources, &mut diagnostics);
    crate::check::library::callers_first(&program, &checked, &mut diagnostics);
    diagnostics.sort();
    Analysis {
        sources,
        diagnostics,
        program,
        checked,
    }
}
