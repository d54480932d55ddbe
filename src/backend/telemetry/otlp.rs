//! OTLP's JSON form of traces and metrics: what a receiver takes at `/v1/traces` and `/v1/metrics`.
//!
//! As the protocol has it, ids are hexadecimal and 64-bit numbers are texts. Counts of buckets are numbers, which every receiver
//! takes as well: some take no texts there.

use serde_json::{Value as Json, json};

use super::metrics::Histogram;
use super::span::{Attr, Attribute, Span};

/// Span kinds of the protocol.
const INTERNAL: u8 = 1;
const CLIENT: u8 = 3;
/// The status code of a failure.
const ERROR: u8 = 2;
/// Counts are of all since the beginning of the process.
const CUMULATIVE: u8 = 2;

/// The body of a request with spans. `resource` says which program they are of.
pub fn traces(resource: &[(String, String)], spans: &[Span]) -> Json {
    json!({ "resourceSpans": [{
        "resource": resource_of(resource),
        "scopeSpans": [{ "scope": scope(), "spans": spans.iter().map(span).collect::<Vec<_>>() }],
    }] })
}

/// The body of a request with metrics, counted from `start` to `now`, in nanoseconds since 1970.
pub fn metrics<'h>(
    resource: &[(String, String)],
    histograms: impl Iterator<Item = &'h Histogram>,
    (start, now): (u64, u64),
) -> Json {
    let metrics: Vec<Json> = histograms
        .map(|histogram| {
            let points = histogram.points().map(|(attributes, point)| {
                json!({
                    "attributes": attributes_of(attributes),
                    "startTimeUnixNano": start.to_string(),
                    "timeUnixNano": now.to_string(),
                    "count": point.count,
                    "sum": point.sum,
                    "min": point.min,
                    "max": point.max,
                    "bucketCounts": point.buckets,
                    "explicitBounds": histogram.bounds,
                })
            });
            json!({
                "name": histogram.name,
                "unit": histogram.unit,
                "description": histogram.description,
                "histogram": {
                    "aggregationTemporality": CUMULATIVE,
                    "dataPoints": points.collect::<Vec<_>>(),
                },
            })
        })
        .collect();
    json!({ "resourceMetrics": [{
        "resource": resource_of(resource),
        "scopeMetrics": [{ "scope": scope(), "metrics": metrics }],
    }] })
}

fn resource_of(resource: &[(String, String)]) -> Json {
    let entries = resource.iter();
    let entries = entries.map(|(key, value)| json!({ "key": key, "value": text(value) }));
    json!({ "attributes": entries.collect::<Vec<_>>() })
}

fn scope() -> Json {
    json!({ "name": "graphc", "version": env!("CARGO_PKG_VERSION") })
}

fn span(span: &Span) -> Json {
    let events = span.events.iter().map(|event| {
        json!({
            "timeUnixNano": event.at.to_string(),
            "name": event.name,
            "attributes": attributes_of(&event.attributes),
        })
    });
    let mut json = json!({
        "traceId": format!("{:032x}", span.trace_id),
        "spanId": format!("{:016x}", span.id),
        "name": span.name,
        "kind": if span.client { CLIENT } else { INTERNAL },
        "startTimeUnixNano": span.start.to_string(),
        "endTimeUnixNano": span.end.to_string(),
        "attributes": attributes_of(&span.attributes),
        "events": events.collect::<Vec<_>>(),
    });
    if let Some(entries) = json.as_object_mut() {
        if let Some(parent) = span.parent {
            entries.insert("parentSpanId".to_owned(), json!(format!("{parent:016x}")));
        }
        let status = match &span.error {
            Some(message) => json!({ "code": ERROR, "message": message }),
            None => json!({}),
        };
        entries.insert("status".to_owned(), status);
    }
    json
}

fn attributes_of(attributes: &[Attribute]) -> Vec<Json> {
    let entries = attributes.iter();
    entries
        .map(|(key, value)| json!({ "key": key, "value": attribute(value) }))
        .collect()
}

fn attribute(value: &Attr) -> Json {
    match value {
        Attr::Text(value) => text(value),
        Attr::Int(value) => json!({ "intValue": value.to_string() }),
        Attr::Float(value) => json!({ "doubleValue": value }),
        Attr::Flag(value) => json!({ "boolValue": value }),
        Attr::Texts(values) => {
            let values: Vec<Json> = values.iter().map(|value| text(value)).collect();
            json!({ "arrayValue": { "values": values } })
        }
    }
}

fn text(value: &str) -> Json {
    json!({ "stringValue": value })
}
