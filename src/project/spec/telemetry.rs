//! `telemetry` in `graphc.yaml`.

use crate::base::secret::Secret;

/// `telemetry` in `graphc.yaml`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TelemetrySpec {
    /// The receiver's base address, such as `http://localhost:4318`.
    pub otlp: String,
    /// Headers of each request.
    pub headers: Vec<(String, Secret)>,
    /// What the program is called; `graphc` where left out.
    pub service_name: Option<String>,
    /// Whether messages, arguments and results are sent too.
    pub content: bool,
}
