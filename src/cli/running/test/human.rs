//! The report for people: a line per scenario, and for each mismatch its place and a diff.

use std::time::Duration;

use crate::cli::{Context, files, flow, term};
use crate::diag::render::{self, Style};
use crate::scenario::coverage::percent;
use crate::scenario::{Finding, Verdict};

use super::play::{Covered, Report};

/// Says what came of one file. Under `--quiet` only what failed.
pub fn show(report: &Report, context: &Context) {
    let style = context.terminal.style;
    if report.verdicts.is_empty() {
        return;
    }
    context.say(&report.file.name);
    for verdict in &report.verdicts {
        if verdict.findings.is_empty() {
            let mark = painted(style, "32", if style.unicode { "✓" } else { "ok" });
            context.say(&format!("  {mark} {}{}", verdict.name, slow(verdict.took)));
            continue;
        }
        let mark = painted(style, "31", if style.unicode { "✗" } else { "FAILED" });
        let name = match context.quiet {
            true => format!("{}: {}", report.file.name, verdict.name),
            false => verdict.name.clone(),
        };
        term::say(&format!("  {mark} {name}"));
        for finding in &verdict.findings {
            term::say(&shown(report, finding, style));
        }
    }
}

/// Only what takes long enough to be noticed is said.
fn slow(took: Duration) -> String {
    match took.as_millis() {
        0..100 => String::new(),
        _ => format!(" ({:.1} s)", took.as_secs_f64()),
    }
}

fn shown(report: &Report, finding: &Finding, style: Style) -> String {
    let span = report.file.suite.span(&finding.at);
    let fault = render::fault(&finding.message, None, span, &report.file.sources, style);
    let mut out = indented(fault.trim_end(), "    ");
    for line in finding.detail.lines() {
        let line = match line.chars().next() {
            Some('-') => painted(style, "31", line),
            Some('+') => painted(style, "32", line),
            _ => line.to_owned(),
        };
        out.push_str(&format!("\n      {line}"));
    }
    out
}

fn indented(text: &str, by: &str) -> String {
    let lines = text.lines().map(|line| match line.is_empty() {
        true => String::new(),
        false => format!("{by}{line}"),
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn painted(style: Style, code: &str, text: &str) -> String {
    match style.color {
        true => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
        false => text.to_owned(),
    }
}

/// `12 passed, 1 failed (0.3 s)`
pub fn summary(reports: &[Report], broken: usize, took: Duration) -> String {
    let verdicts: Vec<&Verdict> = reports.iter().flat_map(|r| &r.verdicts).collect();
    let failed = verdicts.iter().filter(|v| !v.findings.is_empty()).count();
    let passed = verdicts.len() - failed;
    let failed = match failed {
        0 => String::new(),
        count => format!(", {count} failed"),
    };
    let broken = match broken {
        0 => String::new(),
        1 => ", 1 file not played".to_owned(),
        count => format!(", {count} files not played"),
    };
    format!(
        "{passed} passed{failed}{broken} ({:.1} s)",
        took.as_secs_f64()
    )
}

/// A table of the graphs, and what no scenario takes.
pub fn coverage(flows: &[Covered]) -> String {
    let mut lines = Vec::new();
    for covered in flows {
        let names = covered.rows.iter().map(|row| row.graph.chars().count());
        let width = names.max().unwrap_or(0).max("graph".len());
        lines.push(files::shown(&covered.flow));
        lines.push(format!(
            "  {:width$}  {:>8}  {:>8}  {:>8}  {:>6}",
            "graph", "nodes", "routes", "arms", "taken"
        ));
        for row in &covered.rows {
            let part = |(taken, all): (usize, usize)| format!("{taken}/{all}");
            let (taken, all) = row.total();
            lines.push(format!(
                "  {:width$}  {:>8}  {:>8}  {:>8}  {:>4} %",
                row.graph,
                part(row.nodes),
                part(row.routes),
                part(row.arms),
                percent(taken, all)
            ));
        }
        if !covered.missing.is_empty() {
            lines.push("  no scenario takes".to_owned());
        }
        for missing in &covered.missing {
            lines.push(format!(
                "    {}: {} of {}",
                flow::file_name(&covered.flow, &missing.place),
                missing.what,
                missing.graph
            ));
        }
        if !covered.idle.is_empty() {
            lines.push("  counted for nothing, since nothing but a status is expected".to_owned());
        }
        let idle = covered.idle.iter();
        lines.extend(idle.map(|(file, name)| format!("    {file}: {name}")));
    }
    lines.join("\n")
}
