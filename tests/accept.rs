//! What enters from outside. Files of `tests/accept`, parts separated by `---`, cases by `===`; `UPDATE=1` writes the outcomes anew.
//!
//! - `values*.txt`: declarations, then cases of a type (`: T`) and JSON below it, with the stored form of the value or all mismatches.
//! - `schema*.txt`: declarations, then types, with their JSON Schema.
//! - `json*.txt`: what a model wrote, with the JSON in it or why there is none.
//! - `reply*.txt`: declarations, then cases of a type (`: T`) and what a model wrote below it, with the value and what was mended, or
//!   why it is refused.

use crate::declared::{declared, files, type_of};
use graphc::expr::accept::accept;
use graphc::expr::schema::json_schema;
use graphc::run::decode::{Decoded, decode, decode_json};

/// Runs the cases of each file whose name begins so; `outcome` gets the declarations and the case.
fn run(prefix: &str, outcome: impl Fn(&str, &str) -> String) {
    let mut ran = 0;
    for path in files("accept", "txt") {
        let name = path.file_name().unwrap().to_str().unwrap();
        if !name.starts_with(prefix) {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let mut cases = text.split("\n===\n");
        let head = cases.next().unwrap().to_owned();
        let mut now = head.clone();
        for case in cases {
            let case = case.split("\n---\n").next().unwrap();
            now += &format!(
                "\n===\n{}\n---\n{}\n",
                case.trim_end(),
                outcome(&head, case.trim_end())
            );
            ran += 1;
        }
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(&path, now).unwrap();
        } else {
            assert_eq!(now, text, "{}", path.display());
        }
    }
    assert!(ran > 0, "no cases of {prefix}");
}

#[test]
fn values() {
    run("values", |head, case| {
        let declared = declared(head);
        let (ty, json) = case.trim_start_matches(": ").split_once('\n').unwrap();
        let ty = type_of(ty, &declared.types);
        match accept(&serde_json::from_str(json).unwrap(), &ty, &declared.types) {
            Ok(value) => value.to_stored().to_string(),
            Err(found) => {
                let lines: Vec<String> = found.iter().map(|m| format!("- {m}")).collect();
                lines.join("\n")
            }
        }
    });
}

#[test]
fn schemas() {
    run("schema", |head, case| {
        let declared = declared(head);
        let schema = json_schema(&type_of(case, &declared.types), &declared.types);
        assert!(jsonschema::meta::is_valid(&schema), "{schema}");
        serde_json::to_string_pretty(&schema).unwrap()
    });
}

/// A megabyte of keys that are no field's, for a union of wide records: each key is looked at once a member.
#[test]
fn a_large_reply_is_read_in_one_pass() {
    let members: Vec<String> = (0..10).map(|n| format!("M{n}")).collect();
    let records = members.iter().map(|member| {
        let fields = (0..60).map(|n| format!("field_{n}: int = 0"));
        let fields: Vec<String> = fields.collect();
        format!(
            "type {member} {{ kind: \"{member}\", {} }}\n",
            fields.join(", ")
        )
    });
    let declared = declared(&records.collect::<String>());
    let ty = type_of(&members.join(" | "), &declared.types);
    let keys: Vec<String> = (0..60_000).map(|n| format!("\"unknown {n}\": 1")).collect();
    let reply = format!("{{{}, \"kind\": \"M9\"}}", keys.join(", "));
    let read = decode(&reply, &ty, &declared.types).unwrap();
    assert_eq!(read.value.to_json()["kind"], "M9");
    assert_eq!(read.repairs.len(), 21);
    assert_eq!(read.repairs.last().unwrap(), "and 59980 more");
}

/// Each level of what is nested is read once, whichever member it is of.
#[test]
fn a_union_that_holds_itself_is_read_in_one_pass() {
    let declared = declared(
        "type Add { op: \"add\", of: Add | Mul | int }\ntype Mul { op: \"mul\", of: Add | Mul | int }",
    );
    let ty = type_of("Add | Mul", &declared.types);
    let depth = 50;
    let nested = |inside: &str| {
        let open = "{\"op\": \"mul\", \"of\": ".repeat(depth);
        format!("{open}{inside}{}", "}".repeat(depth))
    };
    assert!(decode(&nested("1"), &ty, &declared.types).is_ok());
    let refused = decode(&nested("true"), &ty, &declared.types).unwrap_err();
    assert!(
        refused.ends_with(": expected Add | Mul | int, found true"),
        "{refused}"
    );
}

#[test]
fn of_many_mismatches_the_first_are_described() {
    let declared = declared("type Row { n: int }");
    let ty = type_of("list<Row>", &declared.types);
    let rows = vec![r#"{"n": "x"}"#; 200_000].join(",");
    let refused = decode(&format!("[{rows}]"), &ty, &declared.types).unwrap_err();
    assert!(refused.ends_with("; and 199980 more"), "{refused}");
    assert!(refused.len() < 4096, "{}", refused.len());
}

/// Half of what was read of a reply is not taken for the whole where the run is stopped meanwhile.
#[tokio::test]
async fn a_run_that_is_stopped_reads_no_further() {
    let declared = declared("type Row { n: int, note: string? }");
    let ty = type_of("Row", &declared.types);
    let stopped = tokio_util::sync::CancellationToken::new();
    stopped.cancel();
    let read = graphc::base::cancel::asking(stopped, async {
        decode(r#"{"n": "1", "note": 2}"#, &ty, &declared.types)
    });
    assert_eq!(read.await.unwrap_err(), "it was stopped");
}

#[test]
fn json_in_texts() {
    run("json", |_, case| match decode_json(case) {
        Ok(json) => json.value.to_string(),
        Err(message) => format!("- {message}"),
    });
}

#[test]
fn replies_of_a_type() {
    run("reply", |head, case| {
        let declared = declared(head);
        let (ty, text) = case.split_once('\n').unwrap_or((case, ""));
        let ty = ty.trim_start_matches(": ");
        match decode(text, &type_of(ty, &declared.types), &declared.types) {
            Ok(Decoded { value, repairs }) => {
                let lines = repairs.iter().map(|repair| format!("\n~ {repair}"));
                value.to_stored().to_string() + &lines.collect::<String>()
            }
            Err(message) => format!("- {message}"),
        }
    });
}

/// A value that is accepted is one that the schema admits, and one that the schema refuses isn't accepted.
#[test]
fn schema_and_acceptance_agree() {
    for path in files("accept", "txt") {
        if !path
            .file_name()
            .unwrap()
            .to_str()
            .unwrap()
            .starts_with("values")
        {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let mut cases = text.split("\n===\n");
        let declared = declared(cases.next().unwrap());
        for case in cases {
            let case = case.split("\n---\n").next().unwrap();
            let (ty, json) = case.trim_start_matches(": ").split_once('\n').unwrap();
            let ty = type_of(ty, &declared.types);
            let json = serde_json::from_str(json).unwrap();
            let admitted = jsonschema::is_valid(&json_schema(&ty, &declared.types), &json);
            let accepted = accept(&json, &ty, &declared.types).is_ok();
            // The schema says of a duration and a timestamp only that they are texts, and of an `int` not how large it is.
            assert!(admitted || !accepted, "accepted against its schema: {case}");
            assert!(
                accepted || !admitted || beyond_schema(case),
                "refused against its schema: {case}"
            );
        }
    }
}

fn beyond_schema(case: &str) -> bool {
    case.contains("1e300") || case.contains("Times")
}
