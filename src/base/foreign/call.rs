//! Functions, methods and filters of other languages.

/// What is written for a call.
pub struct Call {
    /// How others name it.
    pub names: &'static [&'static str],
    /// How it is written in an expression; empty where it is not.
    pub expression: &'static str,
    /// How it is written in a template; empty where it is not.
    pub template: &'static str,
}

/// What is written for the function, method or filter of that name, its module (`json.dumps`) before it or not.
pub fn find(name: &str) -> Option<&'static Call> {
    let name = match name.rsplit_once('.') {
        Some((module, name)) if is_module(module) => name,
        _ => name,
    };
    TABLE.iter().find(|call| call.names.contains(&name))
}

/// Whether a method adds to a list.
pub fn is_append(name: &str) -> bool {
    find(name).is_some_and(|call| call.expression == APPEND)
}

const APPEND: &str = "xs + [x]";

/// Whether a name is that of a module of functions.
pub fn is_module(name: &str) -> bool {
    MODULES.contains(&name)
}

static MODULES: &[&str] = &[
    "json",
    "JSON",
    "datetime",
    "datetime.datetime",
    "time",
    "Date",
    "Math",
    "random",
    "uuid",
    "crypto",
    "re",
    "operator",
];

/// The help for a call in an expression.
pub fn in_expression(name: &str) -> Option<String> {
    let found = find(name).filter(|call| !call.expression.is_empty())?;
    Some(format!("write `{}`", found.expression))
}

/// The help for a function, method or filter in a template.
pub fn in_template(name: &str) -> Option<String> {
    let found = find(name)?;
    match (found.template, found.expression) {
        ("", "") => None,
        ("", expression) => Some(format!(
            "a template has none: write `{expression}` in a `let`, and print that"
        )),
        (template, _) => Some(format!("write `{template}`")),
    }
}

const fn call(
    names: &'static [&'static str],
    expression: &'static str,
    template: &'static str,
) -> Call {
    Call {
        names,
        expression,
        template,
    }
}

static TABLE: &[Call] = &[
    // Sizes and conversions.
    call(
        &["len", "length", "count", "size", "cardinality"],
        "size(x)",
        "x | length",
    ),
    call(
        &["str", "toString", "to_string", "String", "repr"],
        "string(x)",
        "x | string",
    ),
    call(
        &["parseInt", "to_int", "toInt", "Integer"],
        "int(x)",
        "x | int",
    ),
    call(
        &["parseFloat", "Number", "to_float", "toFloat", "Float"],
        "float(x)",
        "x | float",
    ),
    call(
        &["Boolean", "boolean", "to_bool", "toBool"],
        "bool(x)",
        "x | bool",
    ),
    call(
        &["isinstance", "typeof", "instanceof"],
        "type(x) == string",
        "x is string",
    ),
    call(
        &[
            "loads",
            "parse",
            "from_json",
            "fromJson",
            "parse_json",
            "JSON",
        ],
        "json_decode(text)",
        "",
    ),
    call(
        &[
            "dumps",
            "stringify",
            "to_json",
            "toJson",
            "json",
            "jsonify",
            "dump",
        ],
        "json_encode(x)",
        "x | tojson",
    ),
    // Texts.
    call(
        &["toUpperCase", "to_upper", "toUpper", "uppercase", "upcase"],
        "x.upper()",
        "x | upper",
    ),
    call(
        &[
            "toLowerCase",
            "to_lower",
            "toLower",
            "lowercase",
            "downcase",
        ],
        "x.lower()",
        "x | lower",
    ),
    call(
        &[
            "strip",
            "lstrip",
            "rstrip",
            "trimStart",
            "trimEnd",
            "trim_end",
        ],
        "x.trim()",
        "x | trim",
    ),
    call(
        &["substr", "left", "mid"],
        "x.substring(from, to)",
        "x[from:to]",
    ),
    call(
        &["startswith", "starts_with", "hasPrefix", "has_prefix"],
        "x.startsWith(y)",
        "x.startswith(y)",
    ),
    call(
        &["endswith", "ends_with", "hasSuffix", "has_suffix"],
        "x.endsWith(y)",
        "x.endswith(y)",
    ),
    call(
        &["includes", "has_substring", "contains_text"],
        "x.contains(y)",
        "y in x",
    ),
    call(
        &["index_of", "indexof", "strpos"],
        "x.indexOf(y)",
        "x.find(y)",
    ),
    call(
        &["replaceAll", "replace_all", "sub", "gsub"],
        "x.replace(a, b)",
        "x | replace(a, b)",
    ),
    call(&["split_lines", "splitlines"], "x.lines()", "x.lines()"),
    // Filters of Jinja's that a template does without.
    call(&["attr"], "", "x.name` or `x[\"name\"]"),
    call(&["batch"], "xs.slice(0, 3)", "xs[0:3]"),
    call(&["chain"], "xs + ys", "xs + ys"),
    call(&["dictsort"], "", "m.items()"),
    call(&["pprint"], "", "x | tojson(indent=2)"),
    call(&["zip"], "", "ys[loop.index0]"),
    call(
        &["charCodeAt", "char_at", "at", "nth"],
        "x.charAt(i)",
        "x[i]",
    ),
    call(
        &["truncatewords", "shorten", "ellipsis"],
        "x.truncate(200)",
        "x.truncate(200)",
    ),
    call(
        &["test", "search", "regex_match", "re_match"],
        "x.matches(\"..\")",
        "",
    ),
    // Lists.
    call(&["push", "append", "add"], APPEND, ""),
    call(&["insert", "unshift"], "[x] + xs", ""),
    call(&["concat", "extend"], "xs + ys", "xs + ys"),
    call(&["pop"], "xs.last()", "xs | last"),
    call(&["shift", "head"], "xs.first()", "xs | first"),
    call(
        &["tail", "take", "limit"],
        "xs.slice(from, to)",
        "xs[from:to]",
    ),
    call(&["flat", "flattened", "chain_all"], "xs.flatten()", ""),
    call(&["flatMap", "flat_map"], "xs.map(x, ..).flatten()", ""),
    call(&["some", "any"], "xs.exists(x, condition)", ""),
    call(&["every"], "xs.all(x, condition)", ""),
    call(
        &["reduce", "foldl", "foldLeft"],
        "xs.fold(acc, x, first, next)",
        "",
    ),
    call(
        &["forEach", "foreach"],
        "xs.map(x, value)",
        "{% for x in xs %}",
    ),
    call(&["trim_messages"], "keep_last(state.messages, 20)", ""),
    call(
        &["sorted", "sortBy", "orderBy", "order_by"],
        "xs.sort_by(x, key)",
        "xs | sort",
    ),
    call(&["groupBy"], "xs.group_by(x, key)", "xs | groupby(\"key\")"),
    call(&["reversed"], "xs.reverse()", "xs | reverse"),
    call(
        &["uniq", "dedup", "dedupe", "uniqBy"],
        "xs.unique()",
        "xs | unique",
    ),
    call(
        &["findIndex", "find_index"],
        "xs.enumerate().find(e, ..)",
        "",
    ),
    call(&["Range", "seq", "xrange"], "lists.range(n)", "range(n)"),
    // Maps.
    call(
        &["get", "getOrDefault", "get_or"],
        "m[?\"key\"].orValue(other)",
        "m.get(\"key\", other)",
    ),
    call(
        &["items", "entries"],
        "m.transformList(k, v, value)",
        "m.items()",
    ),
    call(
        &["has_key", "hasKey", "containsKey", "hasOwnProperty"],
        "\"key\" in m",
        "\"key\" in m",
    ),
    call(&["assign", "update", "spread"], "m.merge(other)", ""),
    // What may not be there.
    call(
        &["coalesce", "ifnull", "nvl", "default", "or_else", "orElse"],
        "x == null ? other : x",
        "x | default(other)",
    ),
    call(
        &["unwrap_or", "getOrElse", "unwrapOr", "get_or_else"],
        "x.orValue(other)",
        "",
    ),
    call(&["unwrap", "expect", "assert"], "required(x)", ""),
    call(
        &["defined", "isset", "exists_field", "hasattr"],
        "has(x.y)",
        "x.y is defined",
    ),
    call(&["has"], "has(x.y)", "x.y is defined"),
    call(
        &["is_null", "isNull", "is_none", "isnull"],
        "x == null",
        "x is none",
    ),
    call(&["empty", "isEmpty", "is_empty"], "size(x) == 0", "not x"),
    // Numbers.
    call(&["abs", "fabs"], "math.abs(x)", "x | abs"),
    call(&["round"], "math.round(x)", "x | round"),
    call(&["floor"], "math.floor(x)", "x | round(0, \"floor\")"),
    call(
        &["ceil", "ceiling"],
        "math.ceil(x)",
        "x | round(0, \"ceil\")",
    ),
    call(&["sqrt"], "math.sqrt(x)", ""),
    call(&["trunc"], "math.trunc(x)", "x | int"),
    call(
        &["clamp", "least", "minimum"],
        "math.least(a, b)",
        "[a, b] | min",
    ),
    call(
        &["greatest", "maximum"],
        "math.greatest(a, b)",
        "[a, b] | max",
    ),
    call(&["pow"], "x * x", "x ** 2"),
    call(
        &["mean", "avg", "average"],
        "xs.sum(0.0) / float(size(xs))",
        "(xs | sum) / (xs | length)",
    ),
    // Time and chance.
    call(
        &[
            "time", "utcnow", "today", "Date", "datetime", "date_now", "now",
        ],
        "now()",
        "",
    ),
    call(
        &["uuid4", "uuidv4", "randomUUID", "guid", "uuid"],
        "uuid()",
        "",
    ),
    call(&["rand", "randint", "random"], "random()", ""),
    call(&["isoformat", "toISOString", "strftime"], "string(x)", ""),
    // Messages and jumps.
    call(
        &["interrupt", "ask_human", "human_input"],
        "node ask: interrupt -> NEXT { ask \"..\"  expect string  set { field: answer } }",
        "",
    ),
    call(&["AIMessage", "assistant_message"], "assistant(text)", ""),
    call(&["ToolMessage", "tool_message"], "tool(text, call_id)", ""),
    call(&["HumanMessage", "human", "user_message"], "user(text)", ""),
    call(&["SystemMessage", "system_message"], "system(text)", ""),
    call(&["not", "Not"], "!x", "not x"),
];
