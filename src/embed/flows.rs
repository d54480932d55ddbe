//! The flows that `graph` tools of the settings run.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use crate::ir::Flow;
use crate::project::config::Config;

use super::load::{LoadError, load};

/// Compiles the flows that `graph` tools name, from the folder of the settings. What is wrong with one counts only once its tool is used.
pub fn load_flows(config: &mut Config, folder: &Path) {
    let files = config.flow_files().into_iter();
    let flows = files.map(|file| (file.to_owned(), flow(folder, file)));
    config.flows = Arc::new(flows.collect::<BTreeMap<_, _>>());
}

fn flow(folder: &Path, file: &str) -> Result<Arc<Flow>, String> {
    let path = folder.join(file);
    if !path.exists() {
        return Err(format!("there is no file `{file}`"));
    }
    match load(&path) {
        Ok(flow) => Ok(Arc::new(flow)),
        Err(LoadError::Flow(refused)) => {
            let errors = refused.diagnostics.iter();
            let first = errors.map(|found| found.message.as_str()).next();
            let first = first.unwrap_or_default();
            Err(format!("the flow `{file}` has errors: {first}"))
        }
        Err(LoadError::File(error)) => {
            let why = error.reason();
            Err(format!("the flow `{file}` can't be read: {why}"))
        }
        Err(LoadError::Ir { why, .. }) => Err(format!("`{file}` is not the IR of a flow: {why}")),
    }
}
