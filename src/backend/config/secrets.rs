//! What of the settings must not be seen.

use crate::backend::secret::Secrets;

use super::{Config, ToolSpec};

impl Config {
    /// Values of the environment that the settings use, for what shows texts that others have made.
    pub fn secrets(&self) -> Secrets {
        let mut all = Secrets::default();
        for entry in self.providers.values() {
            entry.value.add_secrets(&mut all);
        }
        for entry in self.tools.values() {
            match &entry.value {
                ToolSpec::Command(spec) => all.add_all(&spec.secrets),
                ToolSpec::Http(spec) => all.add_all(&spec.secrets),
                ToolSpec::Sql(spec) => all.add_all(&spec.secrets),
                ToolSpec::Graph(_) | ToolSpec::Mcp(_) | ToolSpec::Script(_) => {}
            }
        }
        for entry in self.mcp_servers.values() {
            all.add_all(&entry.value.secrets);
        }
        if let Some(entry) = &self.telemetry {
            all.extend(entry.value.headers.iter().map(|(_, value)| value));
        }
        all
    }
}
