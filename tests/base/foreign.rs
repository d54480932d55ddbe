//! Types, composed texts and calls as other languages write them.

use graphc::base::foreign::{builder, text, ty::read};

fn here(text: &str) -> String {
    read(text).map_or("-".to_owned(), |written| {
        let rest = text.get(written.length..).unwrap_or("");
        format!("{}{rest}", written.here)
    })
}

#[test]
fn types_of_other_languages_are_read() {
    assert_eq!(here("list[str]"), "list<string>");
    assert_eq!(here("string[], x: int"), "list<string>, x: int");
    assert_eq!(here("Dict[str, Any] = {}"), "map<json> = {}");
    assert_eq!(here("Optional[int]"), "int?");
    assert_eq!(here("Union[str, int, None]"), "string | int | null");
    assert_eq!(here("Literal[\"a\", 'b']"), "\"a\" | \"b\"");
    assert_eq!(here("List[Optional[Room]]"), "list<Room?>");
    assert_eq!(here("Array<{ a: string }>"), "-");
    assert_eq!(
        here("Annotated[list[BaseMessage], add_messages]"),
        "list<message> via add_messages"
    );
    assert_eq!(
        here("Annotated[list[str], operator.add]"),
        "list<string> via append"
    );
    assert_eq!(here("string?[]"), "list<string?>");
    assert_eq!(here("Foo[int]"), "-");
}

#[test]
fn composed_texts_become_templates_and_expressions() {
    for (written, template, expression) in [
        ("f\"a {x.y}\"", "\"a {{ x.y }}\"", "\"a %s\".format([x.y])"),
        ("f'{{a}} {x}%'", "'{a} {{ x }}%'", "'{a} %s%%'.format([x])"),
        ("`a ${x}`", "\"a {{ x }}\"", "\"a %s\".format([x])"),
        ("x.y + \"?\" z", "\"{{ x.y }}?\"", "\"%s?\".format([x.y])"),
        (
            "\"a {} {}\".format(x, f(y, z))",
            "\"a {{ x }} {{ f(y, z) }}\"",
            "\"a %s %s\".format([x, f(y, z)])",
        ),
        (
            "\"a {t}\".format(t=x)",
            "\"a {{ x }}\"",
            "\"a %s\".format([x])",
        ),
        ("\"a %s\" % x", "\"a {{ x }}\"", "\"a %s\".format([x])"),
        (
            "\"%d%% of %s\" % (x, y)",
            "\"{{ x }}% of {{ y }}\"",
            "\"%s%% of %s\".format([x, y])",
        ),
        ("\"a\" + \"b\"", "\"ab\"", "\"ab\""),
    ] {
        let read = text::read(written).unwrap();
        assert_eq!(
            (read.template(), read.expression()),
            (template.into(), expression.into())
        );
    }
    for other in [
        "f\"{x:.2f}\"",
        "\"a",
        "1 + x",
        "\"{}\".format()",
        "\"a\" + 'b'",
    ] {
        assert_eq!(text::read(other), None, "{other}");
    }
}

#[test]
fn calls_become_lines() {
    for (call, line) in [
        ("graph.add_edge(START, \"plan\")", "start -> plan"),
        ("builder.add_edge([\"a\", \"b\"], \"c\")", "[a, b] -> c"),
        ("add_edge(\"a\", END) // so", "a -> end"),
        ("g.set_entry_point('a')", "start -> a"),
        ("app = graph.compile()", ""),
    ] {
        assert_eq!(
            builder::read(call).map(|built| built.line).as_deref(),
            Some(line)
        );
    }
    assert_eq!(builder::read("graph.add_edge(\"a\")"), None);
}
