//! The report for programs: one object per scenario, one per line.

use serde_json::{Value as Json, json};

use crate::cli::{files, flow};

use super::load::Broken;
use super::play::{Covered, Report};

/// `{"file", "name", "passed", "took_ms", "findings": [{"message", "detail", "start"}]}`, one per line.
pub fn lines(reports: &[Report]) -> String {
    let mut out = String::new();
    for report in reports {
        for verdict in &report.verdicts {
            let findings = verdict.findings.iter().map(|finding| {
                let span = report.file.suite.span(&finding.at);
                json!({
                    "message": finding.message,
                    "detail": finding.detail,
                    "start": report.file.sources.location(span),
                })
            });
            let line = json!({
                "file": report.file.name,
                "name": verdict.name,
                "passed": verdict.findings.is_empty(),
                "took_ms": verdict.took.as_millis() as u64,
                "findings": findings.collect::<Vec<Json>>(),
            });
            out.push_str(&format!("{line}\n"));
        }
    }
    out
}

/// The same for files that can't be played, with `"name": null`; a finding's `file` is where it is, which may be the flow.
pub fn broken(files: &[Broken]) -> String {
    let mut out = String::new();
    for broken in files {
        let findings = broken.faults.iter().map(|fault| {
            let mut finding = json!({ "message": fault.message, "detail": fault.detail });
            if let (Some((file, start)), Some(entries)) = (&fault.at, finding.as_object_mut()) {
                entries.insert("file".to_owned(), json!(file));
                entries.insert("start".to_owned(), json!(start));
            }
            finding
        });
        let line = json!({
            "file": broken.name,
            "name": null,
            "passed": false,
            "findings": findings.collect::<Vec<Json>>(),
        });
        out.push_str(&format!("{line}\n"));
    }
    out
}

/// `{"flow", "graphs": [..], "missing": [..], "without_expectations": [..]}`, one per flow and line.
pub fn coverage(flows: &[Covered]) -> String {
    let mut out = String::new();
    for covered in flows {
        let graphs = covered.rows.iter().map(|row| {
            let part = |(taken, all): (usize, usize)| json!({ "taken": taken, "all": all });
            json!({
                "graph": row.graph,
                "nodes": part(row.nodes),
                "routes": part(row.routes),
                "arms": part(row.arms),
            })
        });
        let missing = covered.missing.iter().map(
            |missing| json!({ "graph": missing.graph, "what": missing.what, "place": flow::file_name(&covered.flow, &missing.place) }),
        );
        let idle = covered.idle.iter();
        let idle = idle.map(|(file, name)| json!({ "file": file, "name": name }));
        let line = json!({
            "flow": files::shown(&covered.flow),
            "graphs": graphs.collect::<Vec<Json>>(),
            "missing": missing.collect::<Vec<Json>>(),
            "without_expectations": idle.collect::<Vec<Json>>(),
        });
        out.push_str(&format!("{line}\n"));
    }
    out
}
