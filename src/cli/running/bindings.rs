//! What serves the tools that scenarios really call.

use std::sync::Arc;

use crate::base::SourceMap;
use crate::project::Project;
use crate::project::bindings::Bindings;

use super::settings::{environment, read_in, say};
use super::{Context, Exit, Failure};

/// What serves the tools that scenarios of a project have really called. `variables`, those of services, go before the environment's.
pub fn load(
    project: &Project,
    context: &Context,
    variables: &[(String, String)],
) -> Result<Bindings, Failure> {
    let mut sources = SourceMap::new();
    let environment = environment(project, variables)?;
    let config = read_in(project, context, &mut sources, &environment)?;
    let bindings = Bindings {
        config: config.map_err(|found| say(&found, &sources, context, Exit::Unusable))?,
        folder: project.home.clone(),
        sources: Arc::new(sources),
        secrets: Arc::default(),
    };
    Ok(bindings.with_secrets(&environment))
}
