//! `scratch/`: SQL of a model's, well-meant and hostile.

use serde_json::json;

use super::cases::{Case, compare, files};
use super::tool::{Bound, context, folder, shown};

/// Memory that the process may have come to have, at most, while all cases ran: bytes.
const MOST: u64 = 1 << 30;

fn repeated(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("<<") {
        let (inner, after) = after.split_once(">>").unwrap();
        let (text, times) = inner.rsplit_once('*').unwrap();
        out += before;
        out += &text.repeat(times.parse().unwrap());
        rest = after;
    }
    (out + rest).replace("\\0", "\0")
}

/// The most memory that the process had at a time.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().split(' ').next()?.parse().ok()?;
    Some(kibibytes << 10)
}

async fn play(case: &Case, folder: &std::path::Path) -> Case {
    let (mut result, mut more) = ("json", String::new());
    let own = |line: &&String| !line.starts_with("=> ");
    let lines: Vec<String> = case.lines.iter().filter(own).cloned().collect();
    let mut text = lines.join("\n");
    if let Some((first, rest)) = text.clone().split_once('\n')
        && let Some(settings) = first.strip_prefix("# ")
    {
        let (ty, settings) = settings.split_once("; ").unwrap();
        result = match ty {
            "json" => "json",
            other => Box::leak(other.to_owned().into_boxed_str()),
        };
        more = settings.to_owned();
        text = rest.to_owned();
    }
    let text = repeated(&text);
    let (setup, query) = match text.split_once("\n--\n") {
        Some((setup, query)) => (Some(setup), query),
        None => (None, text.as_str()),
    };
    let declared = format!("tool run(schema: string?, statements: string) -> {result}");
    let binding = format!(
        "{{ sql: {{ scratch: {{ setup: schema, query: statements }}{more} }}, max_rows: 100 }}"
    );
    let bound = Bound::new(&declared, &binding, folder).unwrap_or_else(|wrong| panic!("{wrong:?}"));
    let args = json!({ "schema": setup, "statements": query });
    let outcome = bound.call(&args, &context()).await;
    let mut found = case.lines.iter().filter(own).cloned().collect::<Vec<_>>();
    found.push(shown(&outcome));
    Case {
        name: case.name.clone(),
        lines: found,
    }
}

#[tokio::test]
async fn is_answered_in_bounds() {
    let folder = folder("scratch");
    let mut wrong = Vec::new();
    for file in files("scratch") {
        let mut found = Vec::new();
        for case in &file.cases {
            found.push(play(case, &folder).await);
        }
        wrong.extend(compare(&file, &found));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(peak().is_none_or(|peak| peak < MOST), "{:?}", peak());
    // Nothing was written anywhere near.
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
}
