//! The parts of an expression of a template, for walks that treat a few forms in their own way.

use minijinja::machinery::ast::{CallArg, Expr};

/// The expressions directly inside, in the order of the text.
pub(super) fn parts<'a, 's>(expr: &'a Expr<'s>) -> Vec<&'a Expr<'s>> {
    match expr {
        Expr::Var(_) | Expr::Const(_) => Vec::new(),
        Expr::Slice(slice) => {
            let bounds = [&slice.start, &slice.stop, &slice.step];
            let bounds = bounds.into_iter().flatten();
            std::iter::once(&slice.expr).chain(bounds).collect()
        }
        Expr::UnaryOp(op) => vec![&op.expr],
        Expr::BinOp(op) => vec![&op.left, &op.right],
        Expr::Compare(compare) => std::iter::once(&compare.expr)
            .chain(compare.ops.iter().map(|op| &op.expr))
            .collect(),
        Expr::IfExpr(choice) => [&choice.test_expr, &choice.true_expr]
            .into_iter()
            .chain(&choice.false_expr)
            .collect(),
        Expr::Filter(applied) => applied.expr.iter().chain(args(&applied.args)).collect(),
        Expr::Test(test) => std::iter::once(&test.expr)
            .chain(args(&test.args))
            .collect(),
        Expr::GetAttr(get) => vec![&get.expr],
        Expr::GetItem(get) => vec![&get.expr, &get.subscript_expr],
        Expr::Call(call) => std::iter::once(&call.expr)
            .chain(args(&call.args))
            .collect(),
        Expr::List(list) => list.items.iter().collect(),
        Expr::Tuple(list) => list.items.iter().collect(),
        Expr::Map(map) => map.keys.iter().chain(&map.values).collect(),
    }
}

/// The values of arguments, whether they have names or not.
pub(super) fn args<'a, 's>(args: &'a [CallArg<'s>]) -> impl Iterator<Item = &'a Expr<'s>> {
    args.iter().map(|arg| match arg {
        CallArg::Pos(value)
        | CallArg::Kwarg(_, value)
        | CallArg::PosSplat(value)
        | CallArg::KwargSplat(value) => value,
    })
}
