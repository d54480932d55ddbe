//! Where telemetry is sent.

use graphc::backend::telemetry::settings::TelemetrySettings;

fn found(variables: &[(&str, &str)]) -> Result<Option<TelemetrySettings>, String> {
    TelemetrySettings::find(None, &|name| {
        let set = variables.iter().find(|(known, _)| *known == name);
        set.map(|(_, value)| (*value).to_owned())
    })
}

#[test]
fn the_variables_of_the_standard() {
    assert_eq!(found(&[]), Ok(None));
    let base = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://host:4318/");
    assert_eq!(found(&[base, ("OTEL_SDK_DISABLED", "true")]), Ok(None));
    let settings = found(&[
        base,
        ("OTEL_TRACES_EXPORTER", "none"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "api-key=a%20b, x=1"),
        ("OTEL_RESOURCE_ATTRIBUTES", "service.name=a,deployment=b"),
        ("OTEL_SERVICE_NAME", "c"),
    ]);
    let settings = settings.expect("they are right").expect("a receiver");
    assert_eq!(settings.traces, None);
    assert_eq!(
        settings.metrics.as_deref(),
        Some("http://host:4318/v1/metrics")
    );
    let headers = settings.headers.iter();
    let headers: Vec<_> = headers
        .map(|(name, value)| (&**name, value.reveal()))
        .collect();
    assert_eq!(headers, [("api-key", "a b"), ("x", "1")]);
    let resource = settings.resource.iter().take(2);
    let resource: Vec<_> = resource.map(|(key, value)| (&**key, &**value)).collect();
    assert_eq!(resource, [("deployment", "b"), ("service.name", "c")]);
    assert!(!settings.content && settings.warning.is_none());
    let grpc = ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc");
    let settings = found(&[base, grpc]).expect("they are right");
    let warning = settings.and_then(|settings| settings.warning);
    assert!(warning.is_some_and(|text| text.contains("`grpc`")));
    let own = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://other/t");
    let settings = found(&[own]).expect("they are right").expect("a receiver");
    assert_eq!(settings.traces.as_deref(), Some("http://other/t"));
    assert_eq!(settings.metrics, None);
    for wrong in [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "localhost:4318"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "api-key"),
    ] {
        found(&[base, wrong])
            .err()
            .or(found(&[wrong]).err())
            .expect(wrong.1);
    }
}
