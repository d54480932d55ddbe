//! Statements of other template languages.

/// What is written for a statement.
pub fn meant(word: &str) -> Option<&'static str> {
    super::rows(TABLE, word).next().map(|[help, ..]| help)
}

static TABLE: &str = "
elseif/elsif/else_if/elsEif => write `elif`
unless => write `if not ..`
each/foreach/loop => write `for x in xs`
while => there is no `while`: write `for x in xs`
switch/case/when/match => write `if .. == ..`, `elif` and `else`
assign/let/var/const/capture => write `set x = ..`
print/echo/output/return => a value is printed by `{{ .. }}`
comment/rem => a comment stands in `{# .. #}`
fi/end/done => write `endif` or `endfor`
endforeach/next/endwhile => write `endfor`
endunless/endcase/endswitch => write `endif`
";
