//! What a run is served by: the settings, or a scenario with what it has really called.

use std::sync::Arc;

use tokio::runtime::Runtime;

use crate::backend::bind::bind;
use crate::backend::service::Services;
use crate::base::SourceMap;
use crate::ir::Flow;
use crate::project::Project;
use crate::project::bindings::Bindings;
use crate::project::config::Config;
use crate::run::backends::Backends;

use super::super::bindings;
use super::super::{Context, Exit, Failure, settings};
use super::scene::Scene;

/// Backends, and the services that they reach.
pub struct Served {
    /// By model and tool.
    pub backends: Backends,
    /// End when this is dropped.
    pub services: Option<Services>,
}

impl Served {
    /// Finds them; services are started.
    ///
    /// # Errors
    /// Where something is missing, which has been said, or a service does not become ready.
    pub fn new(
        flow: &Flow,
        scene: Option<&Scene>,
        (project, config, sources): (&Project, &Config, &SourceMap),
        runtime: &Runtime,
        context: &Context,
    ) -> Result<Self, Failure> {
        let mut bindings = Bindings {
            config: config.clone(),
            folder: project.home.clone(),
            sources: Arc::new(sources.clone()),
            secrets: Arc::default(),
        };
        let mut services = None;
        if let Some(scene) = scene {
            services = runtime.block_on(scene.services(&project.home, context))?;
            if let Some(services) = &services {
                bindings = bindings::load(project, context, services.variables())?;
            }
            let profile = scene.script.scenario().profile.as_ref();
            let profile = profile.map(|profile| profile.value.as_str());
            bindings = bindings.under(profile).unwrap_or(bindings);
        }
        let Bindings { config, folder, .. } = &bindings;
        let script = scene.map(|scene| &scene.script);
        let backends = bind(flow, config, script, folder)
            .map_err(|found| settings::say(&found, sources, context, Exit::Unusable))?;
        Ok(Self { backends, services })
    }
}
