//! The report as JUnit XML, which CI systems read.

use super::load::Broken;
use super::play::Report;

/// One `testsuite` per file, one `testcase` per scenario. A file that can't be played has one with an `error`.
pub fn document(reports: &[Report], broken: &[Broken]) -> String {
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
    for report in reports.iter().filter(|r| !r.verdicts.is_empty()) {
        let failed = report.verdicts.iter().filter(|v| !v.findings.is_empty());
        let seconds: f64 = report.verdicts.iter().map(|v| v.took.as_secs_f64()).sum();
        out.push_str(&format!(
            "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" time=\"{seconds:.3}\">\n",
            escaped(&report.file.name),
            report.verdicts.len(),
            failed.count()
        ));
        for verdict in &report.verdicts {
            let head = format!(
                "    <testcase classname=\"{}\" name=\"{}\" time=\"{:.3}\"",
                escaped(&report.file.name),
                escaped(&verdict.name),
                verdict.took.as_secs_f64()
            );
            if verdict.findings.is_empty() {
                out.push_str(&format!("{head}/>\n"));
                continue;
            }
            out.push_str(&format!("{head}>\n"));
            for finding in &verdict.findings {
                let span = report.file.suite.span(&finding.at);
                let at = report.file.sources.location(span);
                out.push_str(&format!(
                    "      <failure message=\"{}\">{}:{}:{}\n{}</failure>\n",
                    escaped(&finding.message),
                    escaped(&report.file.name),
                    at.line,
                    at.column,
                    escaped(&finding.detail)
                ));
            }
            out.push_str("    </testcase>\n");
        }
        out.push_str("  </testsuite>\n");
    }
    broken.iter().for_each(|file| put_broken(&mut out, file));
    out.push_str("</testsuites>\n");
    out
}

fn put_broken(out: &mut String, broken: &Broken) {
    let name = escaped(&broken.name);
    let errors = broken.faults.len();
    out.push_str(&format!(
        "  <testsuite name=\"{name}\" tests=\"1\" failures=\"0\" errors=\"{errors}\" time=\"0.000\">\n    <testcase classname=\"{name}\" name=\"{name}\" time=\"0.000\">\n"
    ));
    for fault in &broken.faults {
        let place = fault.at.as_ref();
        let place = place.map(|(file, at)| format!("{file}:{}:{}", at.line, at.column));
        out.push_str(&format!(
            "      <error message=\"{}\">{}</error>\n",
            escaped(&fault.message),
            escaped(format!("{}\n{}", place.unwrap_or_default(), fault.detail).trim_end())
        ));
    }
    out.push_str("    </testcase>\n  </testsuite>\n");
}

/// Text that stands in XML; what XML can't hold at all becomes a question mark.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            '\t' => out.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('?'),
            c => out.push(c),
        }
    }
    out
}
