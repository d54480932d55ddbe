//! Types of expressions: each file of `tests/infer` declares a scope and has expressions with what must come of them.
//!
//! A case is the expression, then lines of settings (`: T` is what is expected of it, `knowing a.b` a place known not to be
//! null, `pure` forbids effects, `import f` brings a function in), then the outcome: findings with marks, and `=> T`, the
//! type. `UPDATE=1` writes the outcomes anew.

use crate::declared::{Declared, declared, files, marks, type_of};
use graphc::base::{AccessPath, FileId};
use graphc::diag::Diagnostics;
use graphc::expr::Type;
use graphc::expr::infer::{Checker, Known, Narrowing, access_path, facts};

#[test]
fn types_and_findings() {
    for path in files("infer", "txt") {
        let text = std::fs::read_to_string(&path).unwrap();
        let (head, cases) = text
            .split_once("\n---\n")
            .expect("`---` below the declarations");
        let scope = declared(head);
        let outcomes: Vec<String> = cases
            .split("\n\n")
            .map(str::trim_end)
            .filter(|case| !case.trim().is_empty())
            .map(|case| outcome(case.trim_start_matches('\n'), &scope))
            .collect();
        let now = format!("{head}\n---\n{}\n", outcomes.join("\n\n"));
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(&path, now).unwrap();
        } else {
            assert_eq!(now, text, "{}", path.display());
        }
    }
}

/// The case with its outcome as it is now; a comment stands for itself.
fn outcome(case: &str, declared: &Declared) -> String {
    let mut lines = case
        .lines()
        .skip_while(|line| line.starts_with('#'))
        .peekable();
    let comments: Vec<&str> = case
        .lines()
        .take_while(|line| line.starts_with('#'))
        .collect();
    let Some(source) = lines.next() else {
        return case.to_owned();
    };
    let mut kept: Vec<String> = comments.into_iter().map(str::to_owned).collect();
    kept.push(source.to_owned());
    let (mut scope, mut expected, mut known) = (declared.scope.clone(), None, Narrowing::new());
    let mut ask_facts = false;
    for line in lines {
        match line.split_once(' ').unwrap_or((line, "")) {
            (":", ty) => expected = Some(type_of(ty, &declared.types)),
            ("knowing", place) => {
                let place = graphc::parse::expression(place, FileId(0), &mut Diagnostics::new());
                known = known.and(Narrowing::not_null(place.and_then(|of| access_path(&of))));
            }
            ("pure", "") => scope.effects = false,
            ("import", name) => scope.functions = vec![name.to_owned()].into(),
            ("facts", "") => ask_facts = true,
            _ => continue,
        }
        kept.push(line.to_owned());
    }
    let mut diags = Diagnostics::new();
    let mut results = String::new();
    if let Some(expr) = graphc::parse::expression(source, FileId(0), &mut diags) {
        let mut checker = Checker::new(&scope, &declared.types, &mut diags).knowing(known);
        let ty = checker.infer(&expr, expected.as_ref());
        let shown = if ty == Type::Error {
            "error".to_owned()
        } else {
            declared.types.show(&ty).to_string()
        };
        results += &format!("=> {shown}\n");
        if ask_facts {
            for truth in [true, false] {
                let known = facts(&expr, &scope, &declared.types, truth);
                let all = AccessPath::default();
                let shown = known.about(&all).filter_map(|(steps, fact)| {
                    let place: AccessPath = steps.iter().cloned().collect();
                    match fact {
                        Known::NotNull => Some(place.to_string()),
                        Known::Lacks(field) => Some(format!("{place}.!{field}")),
                        Known::Not(_) => None,
                    }
                });
                let shown: Vec<String> = shown.collect();
                results += format!("when {truth}: {}", shown.join(", ")).trim_end();
                results += "\n";
            }
        }
    }
    format!("{}\n{}{}", kept.join("\n"), marks(source, &diags), results)
        .trim_end()
        .to_owned()
}
