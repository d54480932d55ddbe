//! `telemetry`: where traces and metrics of runs are sent.

use crate::base::secret::Secret;
use crate::project::spec::address::web_address;
use crate::project::spec::telemetry::TelemetrySpec;
use crate::project::yaml::Cursor;

use super::provider::read_headers;
use super::variables::{Form, Variables};

/// Reads the section.
pub fn read(cursor: &Cursor<'_>, variables: &Variables<'_>) -> Option<TelemetrySpec> {
    let keys = ["otlp", "headers", "service_name", "content"];
    let table = cursor.table("`telemetry`", &keys)?;
    let headers = table.get("headers");
    let headers = headers.map(|headers| read_headers(&headers, variables));
    let headers = headers.unwrap_or_default().into_iter();
    let content = table.get("content").map(|flag| flag.flag());
    let name = table.get("service_name");
    let name = name.and_then(|name| variables.text(&name, Form::Plain));
    let at = table.require("otlp")?;
    let otlp = variables.text(&at, Form::Plain)?;
    if variables.all_set() && web_address(&otlp).is_none() {
        let message = "`otlp` must be the address of a receiver such as `http://localhost:4318`";
        at.report(at.finding(message));
        return None;
    }
    Some(TelemetrySpec {
        otlp,
        headers: headers
            .map(|(name, value)| (name, Secret::new(value)))
            .collect(),
        service_name: name,
        content: content.flatten().unwrap_or(false),
    })
}
