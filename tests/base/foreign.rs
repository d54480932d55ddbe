//! Types, composed texts and calls as other languages write them.

use graphc::base::foreign::expression::METHODS;
use graphc::base::foreign::expression::{Types, around, expression, in_template, jump};
use graphc::base::foreign::{builder, text, ty::read};
use graphc::expr::function;

const DECLARED: &str = "type Doc { title: string, score: float } state { doc: Doc, last: Doc?, names: list<string>, log: list<string> via append, in s: string, in o: string?, in xs: list<Doc>, in n: int, in f: float, in ok: bool, m: map<string>, messages: list<message> }";

fn declared() -> Types<'static> {
    Types::new(DECLARED, Box::leak(Box::default()))
}

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
    let write = |value: &str| expression(value, declared());
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
        (
            "f\"{x:.2f} of {len(y)}\"",
            "\"{{ '%.2f' | format(x) }} of {{ y | length }}\"",
            "\"%.2f of %s\".format([x, size(y)])",
        ),
    ] {
        let read = text::read(written).unwrap();
        assert_eq!(
            (
                read.template(declared()).unwrap(),
                read.expression(&write).unwrap()
            ),
            (template.into(), expression.into())
        );
    }
    for other in [
        "f\"{x:>10}\"",
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
        (
            "g.add_conditional_edges(\"a\", route, {\"x\": \"b\", \"y\": END})",
            "goto { when CONDITION -> b  else -> end }",
        ),
        (
            "g.add_conditional_edges(START, route, [\"a\", \"b\"])",
            "start { when CONDITION -> a  else -> b }",
        ),
        ("llm.with_structured_output(Doc)", "output Doc"),
        ("llm.bind_tools([a, b])", "tools [a, b]"),
        ("writer({\"n\": len(xs)})", "emit EVENT { n: size(xs) }"),
        (
            "b.compile(interrupt_before=[\"act\"], checkpointer=m)",
            "interrupt gate before act { ask \"Go on?\"  expect bool }",
        ),
    ] {
        assert_eq!(
            builder::read(call, declared())
                .map(|built| built.line)
                .as_deref(),
            Some(line)
        );
    }
    assert_eq!(builder::read("graph.add_edge(\"a\")", declared()), None);
}

#[test]
fn expressions_of_other_languages_are_written_here() {
    for (written, here) in [
        ("a if s is None else b", "s == null ? a : b"),
        ("a if not state.s else b", "state.s == \"\" ? a : b"),
        ("a if len(state.xs) else b", "size(state.xs) > 0 ? a : b"),
        (
            "1 if state.ok and not state.o else 0",
            "state.ok && state.o == null ? 1 : 0",
        ),
        (
            "state.s or \"none\"",
            "state.s != \"\" ? state.s : \"none\"",
        ),
        (
            "state.o or \"none\"",
            "state.o == null ? \"none\" : state.o",
        ),
        (
            "state.o ?? \"none\"",
            "state.o == null ? \"none\" : state.o",
        ),
        ("state.xs or []", "size(state.xs) > 0 ? state.xs : []"),
        (
            "state.n > 1 or x.startswith(\"a\")",
            "state.n > 1 || x.startsWith(\"a\")",
        ),
        ("x not in [1, 2]", "!(x in [1, 2])"),
        ("\"a\" in state.s", "state.s.contains(\"a\")"),
        (
            "x is not str and y is defined",
            "type(x) != string && y != null",
        ),
        ("0 < state.n < 10", "0 < state.n && state.n < 10"),
        (
            "[f(x) for x in state.xs if x.id]",
            "state.xs.map(x, x.id, f(x))",
        ),
        (
            "[x for x in state.xs if not x.ok]",
            "state.xs.filter(x, !x.ok)",
        ),
        ("{x.id: x for x in state.xs}", "state.xs.to_map(x, x.id, x)"),
        ("{x.id for x in state.xs}", "state.xs.map(x, x.id).unique()"),
        (
            "[v for k, v in state.m.items()]",
            "state.m.transformList(k, v, v)",
        ),
        (
            "any(x.id == 1 for x in state.xs)",
            "state.xs.exists(x, x.id == 1)",
        ),
        ("sum(x.n for x in state.xs)", "state.xs.map(x, x.n).sum()"),
        (
            "\", \".join(x.id for x in state.xs)",
            "state.xs.map(x, x.id).join(\", \")",
        ),
        (
            "sorted(state.xs, key=lambda x: x.n)[0]",
            "state.xs.sort_by(x, x.n)[0]",
        ),
        ("sorted(xs, reverse=True)", "xs.sort().reverse()"),
        ("max(xs, key=len)", "xs.sort_by(x, size(x)).last().value()"),
        ("max(a, b)", "math.greatest(a, b)"),
        ("list(filter(lambda x: x > 1, xs))", "xs.filter(x, x > 1)"),
        ("xs.some(x => x.a === 1)", "xs.exists(x, x.a == 1)"),
        ("state[\"s\"][:200]", "state.s.truncate(200)"),
        ("state.xs[-5:]", "state.xs.reverse().slice(0, 5).reverse()"),
        ("state.xs[1:3]", "state.xs.slice(1, 3)"),
        (
            "state.messages[-1].content",
            "state.messages.last().value().text",
        ),
        ("state.get(\"s\", \"\")", "state.s"),
        ("state.m.get(\"k\", \"\")", "state.m[?\"k\"].orValue(\"\")"),
        ("isinstance(x, list)", "type(x) == list"),
        (
            "json.dumps(x) + str(datetime.now())",
            "json_encode(x) + string(now())",
        ),
        (
            "[HumanMessage(content=f\"{x}!\")]",
            "[user(\"%s!\".format([x]))]",
        ),
        (
            "AIMessage(\"a\", name=\"ann\")",
            "assistant(\"a\", name: \"ann\")",
        ),
        ("Doc(id=1, xs=[None])", "Doc { id: 1, xs: [null] }"),
        ("state.n ** 2", "state.n * state.n"),
        ("if state.ok then 1 else 2", "state.ok ? 1 : 2"),
        ("state.ok and \"a\" or \"b\"", "state.ok ? \"a\" : \"b\""),
        (
            "state.s or state.o or \"c\"",
            "state.s != \"\" ? state.s : state.o == null ? \"c\" : state.o",
        ),
        (
            "next((x.id for x in state.xs if x.ok), \"\")",
            "state.xs.map(x, x.ok, x.id).first().orValue(\"\")",
        ),
        (
            "state.xs.find(x => x.id).name",
            "state.xs.find(x, x.id).value().name",
        ),
        ("xs.reduce((a, x) => a + x, 0)", "xs.fold(a, x, 0, a + x)"),
        ("Math.max(...xs)", "xs.max()"),
        ("new Date().toISOString()", "string(now())"),
        ("state.o!", "required(state.o)"),
        ("x.length > 1", "size(x) > 1"),
        ("list()", "[]"),
        ("dict(a=1)", "{\"a\": 1}"),
        ("uuid.uuid4().hex", "uuid()"),
        ("[*a, b]", "a + [b]"),
        ("{**state.doc, \"id\": 1}", "state.doc.with({\"id\": 1})"),
        (
            "state.names[0] or \"\"",
            "state.names.first().orValue(\"\")",
        ),
        (
            "reply.content or \"x\"",
            "reply.text != \"\" ? reply.text : \"x\"",
        ),
        (
            "state.xs and state.xs[0].title or \"x\"",
            "size(state.xs) > 0 ? state.xs[0].title : \"x\"",
        ),
        (
            "not state.xs and \"x\" or \"y\"",
            "size(state.xs) == 0 ? \"x\" : \"y\"",
        ),
        (
            "(state.last or {}).get(\"title\", \"\")",
            "state.last != null ? state.last.title : \"\"",
        ),
        ("state.xs[0].title[:100]", "state.xs[0].title.truncate(100)"),
        (
            "[n for n in state.names if n]",
            "state.names.filter(n, n != \"\")",
        ),
        (
            "sum(x.score for x in state.xs) / len(state.xs)",
            "state.xs.map(x, x.score).sum(0.0) / float(size(state.xs))",
        ),
        (
            "state.names.count(\"x\")",
            "size(state.names.filter(e, e == \"x\"))",
        ),
        ("state.xs.insert(0, x)", "[x] + state.xs"),
        (
            "max(state.names, default=\"\")",
            "size(state.names) > 0 ? state.names.max() : \"\"",
        ),
        ("list(map(str, state.xs))", "state.xs.map(x, string(x))"),
        ("round(state.f, 2)", "math.round(state.f * 100.0) / 100.0"),
        ("math.abs(min(a, b, c))", "math.abs(math.least(a, b, c))"),
        (
            "state.o.orValue(\"x\")",
            "state.o == null ? \"x\" : state.o",
        ),
    ] {
        assert_eq!(expression(written, declared()).as_deref(), Some(here));
    }
    for other in [
        "f(a",
        "random.randint(1, 6)",
        "re.sub(a, b, c)",
        "x ** y",
        "a +",
        "[f(*a), ..b]",
        "foo.bar(x)",
        "state.xs.index(x)",
        "state.xs.insert(2, x)",
        "(state.o or Doc(id=1)).id",
        "[x for x in unknown if x]",
    ] {
        assert_eq!(expression(other, declared()), None, "{other}");
    }
    for (written, here) in [
        (
            "len(state.xs) > 1 && !state.ok",
            "(state.xs | length) > 1 and not state.ok",
        ),
        (
            "state.ok ? 'a' : state.o ?? 'b'",
            "'a' if state.ok else state.o or 'b'",
        ),
        (
            "', '.join([x.id for x in state.xs])",
            "(state.xs | map(attribute='id')) | join(', ')",
        ),
        ("state.o is not None", "state.o is not none"),
        ("has(state.o)", "state.o is defined"),
        (
            "json.dumps(state.xs, indent=2) | upper",
            "(state.xs | tojson(indent=2)) | upper",
        ),
    ] {
        assert_eq!(in_template(written, declared()).as_deref(), Some(here));
    }
    // What would be said twice at each level is given up.
    let deep = format!("{}x{}", "(".repeat(36), " or \"a\").title".repeat(36));
    assert_eq!(expression(&deep, declared()), None);
    // A reducer adds what is written to what the field has, unless it stands behind `:=`.
    for (written, here) in [
        ("log: state.log.append(s)", "[s]"),
        ("log := state.log.append(s)", "state.log + [s]"),
        ("log: state.log.extend([s])", "[s]"),
        ("names: state.log.append(s)", "state.log + [s]"),
    ] {
        let found = around(written, written.rfind('.').unwrap() + 1, declared());
        assert_eq!(found.map(|found| found.here).as_deref(), Some(here));
    }
    // The outermost expression, and nothing where it is right.
    let text = "set { a: 1, b: f(x if y else z) }";
    let found = around(text, text.find("if").unwrap(), declared()).unwrap();
    assert_eq!(&text[found.start..found.end], "f(x if y else z)");
    assert_eq!(found.here, "f(y ? x : z)");
    assert_eq!(around("set { a: f(x) ? 1 : 2 }", 12, declared()), None);
    // The next line is another field.
    assert_eq!(around("a: int = 0\n  in b: int", 9, declared()), None);
}

#[test]
fn methods_are_those_of_the_function_table() {
    for name in METHODS.split(' ') {
        let found = function::find(name, true).is_some()
            || function::forms().iter().any(|form| form.name == name);
        assert!(found, "{name}");
    }
    for spec in function::functions().iter().chain(function::forms()) {
        assert!(
            !spec.is_method() || METHODS.split(' ').any(|own| own == spec.name),
            "{}",
            spec.name
        );
    }
}

#[test]
fn what_a_node_gives_back_is_written_here() {
    for (written, here) in [
        ("{\"a\": len(x)}", "set { a: size(x) }"),
        (
            "Command(goto=\"a\", update={\"n\": 1})",
            "goto a { set { n: 1 } }",
        ),
        ("Command(goto=END, graph=Command.PARENT)", "goto parent.end"),
        ("Command(update={\"n\": 1})", "set { n: 1 }"),
        (
            "[Send(\"a\", {\"x\": x}) for x in state[\"xs\"]]",
            "goto each x in state.xs -> a with { x: x }",
        ),
        (
            "state.s ? end : more",
            "goto { when state.s != \"\" -> end  else -> more }",
        ),
        (
            "\"a\" if state.ok else END",
            "goto { when state.ok -> a  else -> end }",
        ),
        ("[\"a\", \"b\"]", "goto [a, b]"),
        (
            "Command(goto=\"a\" if state.ok else \"b\", update={\"log\": state[\"log\"] + [\"x\"]})",
            "goto { when state.ok -> a { set { log: [\"x\"] } }  else -> b { set { log: [\"x\"] } } }",
        ),
    ] {
        let given = jump::given(written, declared()).map(|(given, _)| given.property());
        assert_eq!(given.as_deref(), Some(here));
    }
    let model = |text| jump::model(text, declared()).map(|(model, _)| model);
    assert_eq!(
        model("ChatAnthropic(model=\"claude\", temperature=0, max_tokens=100)").as_deref(),
        Some("\"anthropic/claude\" { temperature 0.0, max_tokens 100 }")
    );
    assert_eq!(
        model("init_chat_model(\"openai:gpt-5-mini\")").as_deref(),
        Some("\"openai/gpt-5-mini\"")
    );
    assert_eq!(
        model("ChatOpenAI(model=\"gpt-5\").with_retry().with_fallbacks([small, b])").as_deref(),
        Some("\"openai/gpt-5\" { retry 3, fallback [small, b] }")
    );
}
