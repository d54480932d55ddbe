//! Functions, methods and filters of other languages, and the form that is written for each.

use std::collections::HashMap;
use std::sync::LazyLock;

/// What is written for a call.
pub struct Form {
    /// What it is called with, subject of a method first: names stand for any value, `f` for a function, `t` for a text in
    /// quotes, `*xs` for `*xs`, `&xs` for all values, `key=f` for an argument with a name; behind `:` stands what must be known
    /// of its type. `None` where the form is no more than a hint.
    pub args: Option<&'static str>,
    /// How it is written in an expression; empty where it is not.
    pub expression: &'static str,
    /// How it is written in a template; empty where it is not.
    pub template: &'static str,
}

/// What may be written for the function, method or filter of that name.
pub fn forms(name: &str) -> &'static [Form] {
    BY_NAME.get(name).map_or(&[], Vec::as_slice)
}

static BY_NAME: LazyLock<HashMap<&str, Vec<Form>>> = LazyLock::new(|| {
    let mut all: HashMap<&str, Vec<Form>> = HashMap::new();
    for row in TABLE.lines().filter(|row| !row.is_empty()) {
        let mut columns = row.split("=>").map(str::trim_ascii);
        let mut next = || columns.next().unwrap_or("");
        let (called, expression, template) = (next(), next(), next());
        let (names, args) = called.split_once('(').unwrap_or((called, ""));
        for name in names.split('/') {
            all.entry(name).or_default().push(Form {
                args: args.strip_suffix(')'),
                expression,
                template,
            });
        }
    }
    all
});

/// Whether a method adds to a list.
pub fn is_append(name: &str) -> bool {
    forms(name).iter().any(|form| form.expression == "xs + [x]")
}

/// Whether a name is that of a module of functions.
pub fn is_module(name: &str) -> bool {
    let modules =
        "json JSON datetime datetime.datetime time Date Math random uuid crypto re operator";
    modules.split(' ').any(|module| module == name)
}

/// The help for a call in an expression.
pub fn in_expression(name: &str) -> Option<String> {
    let mut forms = forms(name).iter().map(|form| form.expression);
    let form = forms.find(|form| !form.is_empty())?;
    Some(format!("write `{form}`"))
}

/// The help for a function, method or filter in a template, its module (`json.dumps`) before it or not.
pub fn in_template(name: &str) -> Option<String> {
    let name = match name.rsplit_once('.') {
        Some((module, name)) if is_module(module) => name,
        _ => name,
    };
    let mut forms = forms(name).iter().map(|form| form.template);
    match forms.find(|form| !form.is_empty()) {
        Some(form) => Some(format!("write `{form}`")),
        None => in_expression(name)
            .map(|help| format!("a template has none: {help} in a `let`, and print that")),
    }
}

/// Names, what they are called with, what is written in an expression and in a template.
static TABLE: &str = r#"
len/length/count/size/cardinality(x) => size(x) => x | length
count(xs:there, y) => size(xs.filter(e, e == y))
str/toString/to_string/String/repr(x) => string(x) => x | string
parseInt/to_int/toInt/Integer(x) => int(x) => x | int
parseFloat/Number/to_float/toFloat/Float(x) => float(x) => x | float
Boolean/boolean/to_bool/toBool(x) => bool(x) => x | bool
isinstance/typeof/instanceof => type(x) == string => x is string
loads/parse/from_json/fromJson/parse_json/JSON(text) => json_decode(text)
dumps/stringify/to_json/toJson/json/jsonify/dump(x) => json_encode(x) => x | tojson
dumps/stringify(x, indent=n) => json_encode(x) => x | tojson(indent=n)

toUpperCase/to_upper/toUpper/uppercase/upcase(x) => x.upper() => x | upper
toLowerCase/to_lower/toLower/lowercase/downcase/casefold(x) => x.lower() => x | lower
strip/lstrip/rstrip/trimStart/trimEnd/trim_end(x) => x.trim() => x | trim
substr/left/mid => x.substring(from, to) => x[from:to]
capitalize(x) => x == "" ? "" : x.truncate(1).upper() + x.substring(1)
title(x) => x.split(" ").map(w, w == "" ? "" : w.truncate(1).upper() + w.substring(1)).join(" ")
iter(x) => x
startswith/starts_with/hasPrefix/has_prefix(x, y) => x.startsWith(y) => x.startswith(y)
endswith/ends_with/hasSuffix/has_suffix(x, y) => x.endsWith(y) => x.endswith(y)
includes(xs:list, y) => y in xs => y in xs
includes/has_substring/contains_text(x, y) => x.contains(y) => y in x
index_of/indexof/strpos(x, y) => x.indexOf(y) => x.find(y)
replaceAll/replace_all/sub/gsub(x, a, b) => x.replace(a, b) => x | replace(a, b)
split_lines/splitlines(x) => x.lines() => x.lines()
split(x) => x.split(" ")
join(t, xs) => xs.join(t) => xs | join(t)
charCodeAt/char_at/at/nth(x, i) => x.charAt(i) => x[i]
truncatewords/shorten/ellipsis => x.truncate(200) => x.truncate(200)
test/search/regex_match/re_match => x.matches("..")

attr => => x.name` or `x["name"]
batch => xs.slice(0, 3) => xs[0:3]
chain => xs + ys => xs + ys
dictsort => => m.items()
pprint => => x | tojson(indent=2)
zip => => ys[loop.index0]

push/append/add(xs:there, x) => xs + [x]
insert/unshift => [x] + xs
insert(xs:there, 0, x) => [x] + xs
unshift(xs:there, x) => [x] + xs
concat/extend(xs:there, ys) => xs + ys => xs + ys
remove(xs:there, y) => xs.filter(e, e != y)
pop(xs) => xs.last() => xs | last
shift/head(xs) => xs.first() => xs | first
tail/take/limit => xs.slice(from, to) => xs[from:to]
flat/flattened/chain_all(xs) => xs.flatten()
flatMap/flat_map => xs.map(x, ..).flatten()
flatMap/flat_map(xs, f) => xs.map(f).flatten()
some/any => xs.exists(x, condition)
some/any(xs, f) => xs.exists(f)
every => xs.all(x, condition)
every(xs, f) => xs.all(f)
map(f, xs) => xs.map(f)
filter(f, xs) => xs.filter(f)
reduce/foldl/foldLeft => xs.fold(acc, x, first, next)
forEach/foreach => xs.map(x, value) => {% for x in xs %}
trim_messages => keep_last(state.messages, 20)
sorted/sortBy/orderBy/order_by => xs.sort_by(x, key) => xs | sort
sorted/sort/toSorted(xs) => xs.sort() => xs | sort
sorted/sort/toSorted(xs, reverse=true) => xs.sort().reverse()
sorted/sort/toSorted(xs, key=f) => xs.sort_by(f)
sorted/sort/toSorted(xs, key=f, reverse=true) => xs.sort_by(f).reverse()
sortBy/orderBy/order_by(xs, f) => xs.sort_by(f)
groupBy => xs.group_by(x, key) => xs | groupby("key")
groupBy(xs, f) => xs.group_by(f)
reversed(xs) => xs.reverse() => xs | reverse
uniq/dedup/dedupe/uniqBy(xs) => xs.unique() => xs | unique
findIndex/find_index => xs.enumerate().find(e, ..)
Range/seq/xrange/range(n) => lists.range(n) => range(n)
next(xs, y) => xs.first().orValue(y)
next(xs) => xs.first().value()
sum(xs:floats) => xs.sum(0.0)
sum(xs) => xs.sum()
list/tuple/dict(x) => x
list/tuple/set() => []
dict() => {}
set(xs) => xs.unique()
max(xs, key=f) => xs.sort_by(f).last().value()
min(xs, key=f) => xs.sort_by(f).first().value()
max(*xs) => xs.max()
min(*xs) => xs.min()
max(xs, default=y) => size(xs) > 0 ? xs.max() : y
min(xs, default=y) => size(xs) > 0 ? xs.min() : y
max(xs) => xs.max()
min(xs) => xs.min()
max(&xs) => math.greatest(*xs)
min(&xs) => math.least(*xs)

get/getOrDefault/get_or => m[?"key"].orValue(other) => m.get("key", other)
items/entries => m.transformList(k, v, value) => m.items()
has_key/hasKey/containsKey/hasOwnProperty => "key" in m => "key" in m
has_key/hasKey/containsKey/hasOwnProperty(m, key) => key in m => key in m
assign/update/spread(m, other) => m.merge(other)

coalesce/ifnull/nvl/default/or_else/orElse(x, other) => x == null ? other : x => x | default(other)
unwrap_or/getOrElse/unwrapOr/get_or_else(x, other) => x.orValue(other)
orValue(x:null, y) => x ?? y
unwrap/expect/assert(x) => required(x)
has/defined/hasattr(x) => => x is defined
has/defined/isset/exists_field/hasattr => has(x.y) => x.y is defined
is_null/isNull/is_none/isnull(x) => x == null => x is none
empty/isEmpty/is_empty(x) => size(x) == 0 => not x
not/Not(x) => !x => not x

abs/fabs(x) => math.abs(x) => x | abs
round(x) => math.round(x) => x | round
round(x, 1) => math.round(x * 10.0) / 10.0 => x | round(1)
round(x, 2) => math.round(x * 100.0) / 100.0 => x | round(2)
floor(x) => math.floor(x) => x | round(0, "floor")
ceil/ceiling(x) => math.ceil(x) => x | round(0, "ceil")
sqrt(x) => math.sqrt(x)
trunc(x) => math.trunc(x) => x | int
clamp/least/minimum => math.least(a, b) => [a, b] | min
least/minimum(&xs) => math.least(*xs)
greatest/maximum => math.greatest(a, b) => [a, b] | max
greatest/maximum(&xs) => math.greatest(*xs)
pow => x * x => x ** 2
pow(x, 2) => x * x => x ** 2
mean/avg/average(xs) => xs.sum(0.0) / float(size(xs)) => (xs | sum) / (xs | length)

time/utcnow/today/Date/datetime/date_now/now() => now()
utcnow/today/now(zone) => now()
uuid4/uuidv4/randomUUID/guid/uuid() => uuid()
rand/random() => random()
randint => random()
isoformat/toISOString/strftime(x) => string(x)

interrupt/ask_human/human_input => node ask: interrupt -> NEXT { ask ".."  expect string  set { field: answer } }
AIMessage/assistant_message(text) => assistant(text)
ToolMessage/tool_message(text, call_id) => tool(text, call_id)
HumanMessage/human/user_message(text) => user(text)
SystemMessage/system_message(text) => system(text)
"#;
