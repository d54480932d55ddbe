//! The check of templates and their evaluation agree: what the check takes of operators, filters and tests, with operands of
//! every kind, is rendered. And what is rendered is what Jinja makes of it, with minijinja as the judge.

use crate::declared::{declared, type_of};
use crate::evaluate::Bound;
use graphc::ast::node::TemplateText;
use graphc::base::FileId;
use graphc::diag::{Diagnostics, Level};
use graphc::expr::template::{Template, check, filters, tests};
use graphc::expr::{Scope, TypeTable};
use graphc::value::{Map, Value};

/// A scope with a name `k0`, `k1` .. for a value of each kind; none is empty, zero or `json`, so that only the kinds can be wrong.
fn world() -> (Scope, TypeTable, Bound) {
    let types = declared("type Doc { id: string, n: int }").types;
    let list = |items: Vec<Value>| Value::List(items.into_iter().collect());
    let doc = || {
        Value::Map(Map::from_iter([
            ("id", Value::from("d")),
            ("n", Value::Int(1)),
        ]))
    };
    let kinds = [
        ("bool", Value::Bool(true)),
        ("int", Value::Int(2)),
        ("float", Value::Float(1.5)),
        ("string", Value::from("12")),
        ("timestamp", Value::Timestamp(jiff::Timestamp::UNIX_EPOCH)),
        (
            "duration",
            Value::Duration(jiff::SignedDuration::from_secs(90)),
        ),
        ("list<int>", list(vec![Value::Int(1), Value::Int(2)])),
        (
            "list<string>",
            list(vec![Value::from("x"), Value::from("y")]),
        ),
        ("list<Doc>", list(vec![doc()])),
        (
            "map<int>",
            Value::Map(Map::from_iter([("id", Value::Int(1))])),
        ),
        ("Doc", doc()),
    ];
    let mut scope = Scope::default();
    let mut values = Vec::new();
    for (at, (ty, value)) in kinds.into_iter().enumerate() {
        scope.declare(format!("k{at}"), type_of(ty, &types));
        values.push(value);
    }
    (scope, types, Bound(values))
}

/// Why a template that the check takes is not rendered.
fn disagreement(text: &str, (scope, types, values): &(Scope, TypeTable, Bound)) -> Option<String> {
    let template = TemplateText::of_file(text.to_owned(), FileId(0));
    let mut diags = Diagnostics::new();
    check(&template, scope, types, &mut diags);
    if diags.iter().any(|found| found.level == Level::Error) {
        return None;
    }
    let rendered = Template::compile(&template, scope).and_then(|made| made.render(values));
    let error = rendered.err()?;
    let named: Vec<String> = scope
        .names
        .iter()
        .filter(|(name, _)| {
            text.split(|c: char| !c.is_alphanumeric())
                .any(|word| word == name)
        })
        .map(|(name, ty)| format!("{name}: {}", types.show(ty)))
        .collect();
    Some(format!("{text} ({}): {}", named.join(", "), error.message))
}

fn assert_none(seen: usize, least: usize, wrong: &[String]) {
    assert!(seen >= least, "only {seen} were tried");
    assert!(
        wrong.is_empty(),
        "{} of {seen}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn operators() {
    let world = world();
    let count = world.0.names.len();
    let signs = [
        "+", "-", "*", "/", "//", "%", "**", "~", "==", "!=", "<", "<=", ">", ">=", "in", "not in",
        "and", "or",
    ];
    let (mut wrong, mut seen) = (Vec::new(), 0);
    for left in 0..count {
        for right in 0..count {
            for sign in signs {
                seen += 1;
                let text = format!("{{{{ k{left} {sign} k{right} }}}}");
                wrong.extend(disagreement(&text, &world));
            }
        }
        for text in [
            format!("{{{{ -k{left} }}}}"),
            format!("{{{{ not k{left} }}}}"),
        ] {
            wrong.extend(disagreement(&text, &world));
        }
    }
    assert_none(seen, 2_000, &wrong);
}

/// Arguments with which a filter or a test is right for some value.
fn arguments(name: &str) -> &'static [&'static str] {
    match name {
        "groupby" => &["(\"id\")"],
        "indent" => &["(2)"],
        "join" => &["", "(\", \")"],
        "map" => &[
            "(attribute=\"n\")",
            "(\"string\")",
            "(\"join\", \"-\")",
            "(\"sort\")",
        ],
        "replace" => &["(\"a\", \"b\")"],
        "select" | "reject" => &["", "(\"defined\")"],
        "selectattr" | "rejectattr" => &["(\"n\")"],
        "sum" => &["", "(attribute=\"n\")", "(attribute=\"id\")"],
        "sort" | "unique" | "min" | "max" => &["", "(attribute=\"n\")"],
        "divisibleby" => &["(2)"],
        "endingwith" | "startingwith" => &["(\"a\")"],
        "filter" | "test" => &[],
        "in" => &["([1])", "(\"a\")"],
        "!=" | "<" | "<=" | "==" | ">" | ">=" | "eq" | "equalto" | "ge" | "greaterthan" | "gt"
        | "le" | "lessthan" | "lt" | "ne" | "sameas" => &["(1)", "(\"a\")"],
        _ => &[""],
    }
}

#[test]
fn filters_and_tests() {
    let world = world();
    let (mut wrong, mut seen) = (Vec::new(), 0);
    let applied = filters().map(|filter| (" | ", filter.bare_name()));
    let asked = tests().map(|name| (" is ", name));
    let named = |name: &str| name.chars().all(char::is_alphanumeric);
    for (sign, name) in applied.chain(asked.filter(|(_, name)| named(name))) {
        for args in arguments(name) {
            for kind in 0..world.0.names.len() {
                seen += 1;
                let text = format!("{{{{ k{kind}{sign}{name}{args} }}}}");
                wrong.extend(disagreement(&text, &world));
            }
        }
    }
    assert_none(seen, 800, &wrong);
}

/// A text that is written out is filled by the filter and by the method with values of each kind, or refused by the check.
#[test]
fn formatted_texts() {
    let world = world();
    let (mut wrong, mut seen) = (Vec::new(), 0);
    for verb in "s d i f e g x o b q".split(' ') {
        for kind in 0..world.0.names.len() {
            for text in [
                format!("{{{{ '%{verb}' | format(k{kind}) }}}}"),
                format!("{{{{ '%5{verb}|%s' | format(k{kind}, k1) }}}}"),
                format!("{{{{ '%{verb} %{verb}' | format(k{kind}) }}}}"),
                format!("{{{{ '%{verb}'.format([k{kind}]) }}}}"),
            ] {
                seen += 1;
                wrong.extend(disagreement(&text, &world));
            }
        }
    }
    assert_none(seen, 400, &wrong);
}

/// What minijinja makes of a text with the values of the world, which print as templates have it here.
fn judged(text: &str, (scope, _, values): &(Scope, TypeTable, Bound)) -> Result<String, String> {
    use minijinja::value::ValueKind;
    let mut environment = minijinja::Environment::new();
    environment.set_undefined_behavior(minijinja::UndefinedBehavior::SemiStrict);
    environment.set_formatter(|out, state, value| match value.kind() {
        ValueKind::None => Ok(()),
        ValueKind::Bool => Ok(write!(out, "{}", value.is_true())?),
        ValueKind::Seq | ValueKind::Map | ValueKind::Iterable => {
            Ok(write!(out, "{}", serde_json::to_string(value).unwrap())?)
        }
        _ => minijinja::escape_formatter(out, state, value),
    });
    let names = scope.names.iter().map(|(name, _)| name.clone());
    let values = values
        .0
        .iter()
        .map(|value| minijinja::Value::from(minijinja::value::Serde(value.to_json())));
    let context: std::collections::BTreeMap<String, minijinja::Value> = names.zip(values).collect();
    environment
        .render_str(text, context)
        .map_err(|error| error.to_string())
}

/// Templates that are Jinja's to the letter. `k1` is 2, `k2` 1.5, `k3` "12", `k6` [1, 2], `k7` ["x", "y"], `k8` [{id: "d", n: 1}],
/// `k9` {id: 1}, `k10` {id: "d", n: 1}.
const OF_JINJA: &[&str] = &[
    // Operators
    "{{ 1 + 2 * 3 - 4 }} {{ 7 / 2 }} {{ 8 / 2 }} {{ 7 // 2 }} {{ -7 // 2 }} {{ 7 % 3 }} {{ -7 % 3 }} {{ 7 % -3 }} {{ 2 ** 10 }}",
    "{{ 1.5 + 1 }} {{ 7.5 // 2 }} {{ -7.5 % 2 }} {{ 2 ** -1 }} {{ 2.0 ** 0.5 }} {{ 1e3 }} {{ 1.0 }} {{ -k1 }} {{ -k2 }}",
    "{{ 1e20 }} {{ 1e15 }} {{ 1e16 }} {{ 1.5e300 }} {{ 1e-7 }} {{ 0.0001 }} {{ 123456789.125 }} {{ -0.0 }} {{ 2 ** 60 }}",
    "{{ 1e20 ~ '' }} {{ [1e20, 1e-7] }} {{ 1e20 | string }} {{ 1e20 | tojson }}",
    "{{ 'a' ~ 1 ~ 2.0 ~ k3 }} {{ 'ab' * 3 }} {{ 'a' + 'b' }} {{ [1] + [2, 3] }}",
    "{{ 1 < 2 }} {{ 1 < 2 < 2 }} {{ 3 > 2 >= 2 != 1 }} {{ 1 == 1.0 }} {{ 'a' < 'b' }} {{ 1 == '1' }}",
    "{{ 1 in k6 }} {{ 'x' not in k7 }} {{ 'id' in k9 }} {{ 'el' in 'hello' }} {{ 3 in [1, 2] }}",
    "{{ '' or 'other' }} {{ 0 or k1 or 3 }} {{ k1 and k3 }} {{ '' and 1 }} {{ not k7 }} {{ not '' }} {{ none or 'x' }}",
    "{{ 'yes' if k1 > 1 else 'no' }} {{ 'a' if false }} {{ 'a' if 0 else 'b' if 1 else 'c' }}",
    "{{ k6[0] }} {{ k6[-1] }} {{ k3[1] }} {{ k9['id'] }} {{ k8[0].id }} {{ k8[0]['n'] }} {{ k10.id }}",
    "{{ k6[1:] }} {{ k3[:1] }} {{ 'abcdef'[1:5:2] }} {{ 'abcdef'[::-1] }} {{ 'abcdef'[-3:-1] }} {{ [1, 2, 3, 4][::2] }} {{ 'abc'[5:] }}",
    "{{ 1 / 0 }}",
    "{{ 1 % 0 }}",
    "{{ {'a': 1, 'b': [1, 2]} }} {{ (1, 2) | list }} {{ [] }}",
    // Filters of texts
    "{{ 'hello World' | upper }} {{ 'hello World' | lower }} {{ 'hello wORLD-wide it\'s' | title }} {{ 'hELLO' | capitalize }}",
    "[{{ '  a b ' | trim }}] {{ 'xxaxx' | trim('x') }} {{ 'a-b-c' | replace('-', '+') }} {{ 12 | replace('1', '2') }}",
    "{{ 'a,b,c' | split(',') }} {{ ' a  b ' | split }} {{ 'a,b,c' | split(',', 1) }}",
    "{{ 'a\nb\n\nc\n' | indent }}|{{ 'a\nb' | indent(2, true) }}|{{ 'a\n\nb' | indent(1, blank=true) }}|{{ 'a\nb' | indent(width=3) }}",
    "{{ '<a href=\"x\">&' | escape }} {{ '<' | e }} {{ 'x' | safe }} {{ 5 | string }} {{ 'ab' | reverse }} {{ 'héé' | length }}",
    "{{ k10 | tojson }} {{ [1, \"<a>'\"] | tojson }} {{ {'a': [1]} | tojson(indent=2) }} {{ {'a': {}} | tojson(true) }}",
    "{{ '%s is %d of %5.2f|%-5s|%05d|%x|%X|%o|%e|%%' | format('a', 2, 3.14159, 'l', 42, 255, 255, 8, 12345.678) }}",
    "{{ '%+d % d %i %5s %.2s' | format(3, 4, 5, 'r', 'long') }}",
    "{{ '%d' | format('x') }}",
    "{{ '%s %s' | format('x') }}",
    // Filters of numbers
    "{{ -3 | abs }} {{ -2.5 | abs }} {{ 42.55 | round }} {{ 42.55 | round(1) }} {{ 2.5 | round }} {{ 42.15 | round(method='ceil') }} {{ 42.55 | round(1, 'floor') }} {{ 7 | round }}",
    "{{ '42' | int }} {{ '4.7' | int }} {{ 4.7 | int }} {{ -4.7 | int }} {{ true | int }} {{ 'x' | int(default=3) }} {{ 'x' | int(7) }}",
    "{{ '1.5' | float }} {{ 2 | float }} {{ 'x' | float(default=0.5) }}",
    "{{ 'x' | int }}",
    // Filters of lists
    "{{ k6 | first }} {{ k6 | last }} {{ k7 | length }} {{ k9 | count }} {{ 'ab' | list }} {{ k9 | list }} {{ k6 | reverse }}",
    "{{ [3, 1, 2] | sort }} {{ [3, 1, 2] | sort(reverse=true) }} {{ ['b', 'A', 'c'] | sort }} {{ ['b', 'A', 'c'] | sort(case_sensitive=true) }}",
    "{{ [{'n': 2}, {'n': 1}] | sort(attribute='n') }} {{ [{'a': 1, 'b': 2}, {'a': 1, 'b': 1}] | sort(attribute='a, b') }}",
    "{{ k6 | sum }} {{ k8 | sum(attribute='n') }} {{ k6 | sum(start=10) }} {{ [1.5, 2] | sum }} {{ [] | sum }}",
    "{{ [1, 3, 2] | max }} {{ [1, 3, 2] | min }} {{ k8 | max(attribute='n') }} {{ ['b', 'A'] | min }}",
    "{{ [1, 2, 1] | unique }} {{ ['a', 'A', 'b'] | unique }} {{ [{'n': 1}, {'n': 1}] | unique(attribute='n') }}",
    "{{ k7 | join }} {{ k7 | join(', ') }} {{ k8 | join('-', attribute='id') }} {{ k6 | join(d='+') }} {{ 'abc' | join('.') }}",
    "{{ k8 | map(attribute='id') | list }} {{ k7 | map('upper') | join }} {{ [{}] | map(attribute='x', default='d') | list }} {{ k6 | map('string') | list }}",
    "{{ [1, 2, 3] | select('odd') | list }} {{ [1, 2, 3] | reject('odd') | list }} {{ [0, 1, ''] | select | list }} {{ [1, 2, 3] | select('gt', 1) | list }}",
    "{{ k8 | selectattr('n') | list }} {{ k8 | rejectattr('n', 'eq', 1) | list }} {{ k8 | selectattr('id', 'equalto', 'd') | length }} {{ [{}] | selectattr('x', 'defined') | list }}",
    "{% for k, xs in [{'c': 'a', 'n': 1}, {'c': 'b', 'n': 2}, {'c': 'A', 'n': 3}] | groupby('c') %}{{ k }}:{{ xs | map(attribute='n') | join(',') }};{% endfor %}",
    "{% for k, v in k9 | items %}{{ k }}{{ v }}{% endfor %}",
    "{{ [[1, 2], [3]] | map('join', '-') | list }} {{ [[2, 1], [3]] | map('sort') | list }} {{ [[1], []] | map('first') | list }} {{ ['a-b'] | map('replace', '-', '+') | list }}",
    "{{ [[1, 2], [3]] | map('sum') | list }} {{ [{'n': 1}] | map('items') | list }}",
    "{{ ['a', 'b', 'c'] | select('in', ['a', 'c']) | join }} {{ ['ab', 'b'] | reject('startingwith', 'a') | list }}",
    "{{ nobody | default('x') }} {{ '' | default('x') }} {{ '' | default('x', true) }} {{ k10.zz | default('x') }} {{ nobody | d }}|",
    "{{ 0 | bool }} {{ 'x' | bool }}",
    // Tests
    "{{ 3 is odd }} {{ 4 is even }} {{ 9 is divisibleby 3 }} {{ 'a' is string }} {{ 1 is number }} {{ 1 is integer }} {{ 1.5 is float }} {{ true is boolean }}",
    "{{ k6 is sequence }} {{ k9 is mapping }} {{ 'a' is iterable }} {{ 1 is iterable }} {{ none is none }} {{ 1 is none }} {{ nobody is defined }} {{ nobody is undefined }} {{ k1 is defined }}",
    "{{ 'ab' is startingwith 'a' }} {{ 'ab' is endingwith 'a' }} {{ 'ab' is lower }} {{ 'AB' is upper }} {{ 'A1' is upper }} {{ 1 is eq 1 }} {{ 1 is in [1] }} {{ 2 is gt 1 }} {{ 1 is not odd }} {{ true is true }} {{ 1 is sameas 1.0 }}",
    "{{ k10.zz is defined }} {{ k10.zz is none }} {{ k10.zz is string }}",
    // A name that is set on one way only has nothing of what was there before.
    "{{ k8 | map(attribute='id') | join(', ') }}{% if not k1 %}{% set x = 1 %}{% endif %} {{ x | default('none') }}",
    "{% for n in [1, 2] %}{{ k8 | map(attribute='id') | join }}{% if n == 1 %}{% set x = n %}{% endif %}[{{ x | default('-') }}]{% endfor %}",
    "{% set t %}{% set a = 'A' %}{% set b = 'B' %}c{% endset %}{{ t }}{% if not k1 %}{% set x = 1 %}{% endif %}[{{ x | default('-') }}]",
    // Statements
    "{% for x in [1, 2, 3] %}{{ loop.index }}/{{ loop.length }} {{ loop.first }}{{ loop.last }} {{ loop.revindex0 }};{% endfor %}",
    "{% for x in [1, 2] %}{% for y in [1] %}{{ x }}{% endfor %}{% endfor %}{% for x in [] %}a{% else %}none{% endfor %}",
    "{% for x in [1, 2, 3] if x is odd %}{{ loop.index }}{{ x }}{% else %}none{% endfor %}{% for x in none %}a{% else %}e{% endfor %}{% for c in 'ab' %}{{ c }}.{% endfor %}",
    "{% for a, b in [[1, 2], [3, 4]] %}{{ a }}{{ b }}{% endfor %}{% for k in {'x': 1} %}{{ k }}{% endfor %}{% for i in range(1, 7, 2) %}{{ i }}{% endfor %}{{ range(3) | list }}{{ range(3, 0, -1) | list }}",
    "{% set x = 1 %}{% for y in [1, 2] %}{{ x }}{% set x = x + y %}{{ x }}{% endfor %}{{ x }}",
    "{% if k1 > 5 %}{% set x = 1 %}{% else %}{% set x = 2 %}{% endif %}{{ x }}{% if false %}{% set k1 = 5 %}{% endif %}{{ k1 }}",
    "{% for x in [1, 2] %}{% if x == 1 %}{% set y = 'set' %}{% endif %}{{ y | default('unset') }} {% endfor %}",
    "{% for x in [1] %}{% set a = 1 %}{% endfor %}{% if false %}{% set b = 2 %}{% endif %}{{ b is defined }} {{ a is defined }}",
    "{% set ns = namespace(n=0, t='') %}{% for x in [1, 2, 3] %}{% set ns.n = ns.n + x %}{% if x > 1 %}{% set ns.t = ns.t ~ x %}{% endif %}{% endfor %}{{ ns.n }} {{ ns.t }}",
    "{% set t %}a{{ k1 }}b{% endset %}[{{ t }}] {% set u | upper %}a{{ k3 }}b{% endset %}[{{ u }}] {% set a, b = [1, 2] %}{{ b }}{{ a }}",
    "a {%- if true -%} b {%- endif %} c\n{%- set x = 1 %}\n  d\n{# gone #}\n{% raw %}{{ x }}{% endraw %}\n",
    "{% if nobody %}a{% elif k1 %}b{% endif %}{% if not nobody %}c{% endif %}{% if k10.zz or k1 %}d{% endif %}{{ dict(a=1).a }}",
    "{{ nobody }}",
    "{{ k10.zz }}",
    "{{ k10.zz.y | default(1) }}",
    "{{ nobody + 1 }}",
    "{% for x in nobody %}{% endfor %}",
    "{% for a, b in [1] %}{% endfor %}",
];

#[test]
fn what_is_rendered_is_what_jinja_renders() {
    let world = world();
    let mut wrong = Vec::new();
    for text in OF_JINJA {
        let ours = Template::compile_text(text, &world.0).and_then(|made| made.render(&world.2));
        let judged = judged(text, &world);
        let same = match (&ours, &judged) {
            (Ok(ours), Ok(judged)) => ours == judged,
            (ours, judged) => ours.is_err() && judged.is_err(),
        };
        if !same {
            let ours = ours.map_err(|error| error.message);
            wrong.push(format!("{text}\n  ours  {ours:?}\n  jinja {judged:?}"));
        }
    }
    assert_none(OF_JINJA.len(), 60, &wrong);
}
