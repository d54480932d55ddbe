//! What an evaluation costs. Small ones should stay below half a microsecond.
#![allow(clippy::unwrap_used, missing_docs)]

use std::sync::Arc;

use divan::Bencher;
use graphc::base::FileId;
use graphc::diag::Diagnostics;
use graphc::expr::eval::{Effect, Env, Program, compile};
use graphc::expr::{Scope, Slot, Type, TypeTable};
use graphc::parse;
use graphc::value::{List, Map, Value};

fn main() {
    divan::main();
}

struct World {
    fields: Vec<Value>,
}

impl Env for World {
    fn slot(&self, _: Slot) -> Option<Value> {
        None
    }

    fn field(&self, index: u32) -> Option<Value> {
        self.fields.get(index as usize).cloned()
    }

    fn effect(&self, _: Effect) -> Result<Value, String> {
        Err("no effects here".into())
    }
}

/// `state { count: int, items: list<int> of 1000, docs: map of 100 records }`
fn world() -> (Scope, World) {
    let fields = [
        ("count", Type::Int),
        ("items", Type::Json),
        ("docs", Type::Json),
    ];
    let scope = Scope {
        state: Some(Arc::new(
            fields
                .map(|(name, ty)| (name.to_owned(), ty))
                .into_iter()
                .collect(),
        )),
        ..Scope::default()
    };
    let doc = |i: i64| {
        let fields = [("id", Value::from(format!("d{i}"))), ("n", Value::Int(i))];
        (
            format!("d{i}").as_str().into(),
            Value::Map(fields.into_iter().collect()),
        )
    };
    let docs: Vec<(graphc::value::Key, Value)> = (0..100).map(doc).collect();
    let fields = vec![
        Value::Int(3),
        Value::List((0..1000).map(Value::Int).collect()),
        Value::Map(docs.into_iter().collect()),
    ];
    (scope, World { fields })
}

fn program(text: &str, scope: &Scope) -> Program {
    let expr = parse::expression(text, FileId(0), &mut Diagnostics::default()).unwrap();
    compile(&expr, scope, &TypeTable::default()).unwrap()
}

#[divan::bench(args = [
    "state.count > 2 && state.count < 10",
    "state.docs['d42'].n",
    "{'id': 'x', 'n': state.count}",
    "'found ' + string(state.count)",
    "state.docs['d1'].id.matches('^d[0-9]+$')",
    "state.items.filter(x, x % 2 == 0)",
    "state.items.map(x, x + 1)",
    "state.docs.map(k, state.docs[k].n).sum()",
])]
fn eval(bencher: Bencher, text: &str) {
    let (scope, world) = world();
    let program = program(text, &scope);
    bencher.bench_local(|| program.eval(&world).unwrap());
}

#[divan::bench(args = [0, 10, 100_000])]
fn append_to_a_shared_list(bencher: Bencher, len: i64) {
    let list: List = (0..len).map(Value::Int).collect();
    bencher.bench_local(|| {
        let mut longer = list.clone();
        longer.push(Value::Null);
        longer
    });
}

#[divan::bench(args = [1, 10, 100_000])]
fn change_a_shared_map(bencher: Bencher, len: i64) {
    let key = |i: i64| graphc::value::Key::from(format!("k{i}").as_str());
    let map: Map = (0..len).map(|i| (key(i), Value::Int(i))).collect();
    bencher.bench_local(|| {
        let mut changed = map.clone();
        changed.insert("k0", Value::Null);
        changed
    });
}
