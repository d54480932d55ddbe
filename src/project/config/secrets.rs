//! What of the settings must not be seen.

use crate::base::secret::Secrets;

use super::{Config, ToolSpec};

impl Config {
    /// Values of the environment that the settings use, for what shows texts that others have made.
    pub fn secrets(&self) -> Secrets {
        let mut all = Secrets::default();
        for entry in self.providers.values() {
            entry.value.add_secrets(&mut all);
        }
        for entry in self.tools.values() {
            all.add_all(&entry.secrets);
            // The variables of its own environment that it hands on.
            if let ToolSpec::Command(spec) = &entry.value {
                all.add_all(&spec.secrets);
            }
        }
        for entry in self.mcp_servers.values() {
            all.add_all(&entry.value.secrets);
        }
        let store = self.store.iter().map(|entry| &entry.secrets);
        let memory = self.memory.iter().map(|entry| &entry.secrets);
        let telemetry = self.telemetry.iter().map(|entry| &entry.secrets);
        store
            .chain(memory)
            .chain(telemetry)
            .for_each(|one| all.add_all(one));
        all
    }
}
