//! Expressions, types, strings.

use super::Program;

impl Program<'_> {
    /// An expression.
    pub fn expr(&mut self) {
        self.chain();
        if self.grows() {
            self.put("?");
            self.chain();
            self.put(":");
            self.chain();
        }
    }

    fn chain(&mut self) {
        self.operand();
        for _ in 0..self.below(3) {
            if !self.grows() {
                break;
            }
            let op = self.pick(&[
                "+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">=", "&&", "||", "in",
            ]);
            self.put(op);
            self.operand();
        }
    }

    fn operand(&mut self) {
        while self.sometimes() && self.depth < 5 {
            let prefix = self.pick(&["!", "-"]);
            self.put(prefix);
        }
        self.depth += 1;
        self.primary();
        while self.depth < 6 && self.sometimes() {
            match self.below(4) {
                0 => self.select(false),
                1 => {
                    self.select(false);
                    self.args();
                }
                2 => self.select(true),
                _ => {
                    self.put("[");
                    if self.sometimes() {
                        self.put("?");
                    }
                    self.expr();
                    self.put("]");
                }
            }
        }
        self.depth -= 1;
    }

    fn select(&mut self, optional: bool) {
        self.put(".");
        if optional {
            self.put("?");
        }
        let field = self.pick(&["id", "content", "filter", "in", "`odd-name`", "model"]);
        self.put(field);
    }

    fn args(&mut self) {
        self.list(["(", ")"], 0, Self::expr);
    }

    fn primary(&mut self) {
        let kind = self.below(if self.depth < 5 { 12 } else { 5 });
        match kind {
            0 | 1 => {
                let name = self.pick(&["a", "state", "items", "output", "model", "Status", "true"]);
                self.put(name);
            }
            2 => self.number(),
            3 | 4 => self.string(true),
            5 => {
                let name = self.pick(&["size", "user", "uuid"]);
                self.put(name);
                self.args();
            }
            6 => {
                self.put("(");
                self.expr();
                self.put(")");
            }
            7 | 8 => self.list(["[", "]"], 0, |p| {
                if p.sometimes() {
                    p.put("?");
                }
                p.expr();
            }),
            9 => self.list(["{", "}"], 0, |p| {
                if p.sometimes() {
                    p.put("?");
                }
                p.expr();
                p.put(":");
                p.expr();
            }),
            10 => {
                if self.sometimes() {
                    self.puts(&["lib", "."]);
                }
                self.upper();
                self.list(["{", "}"], 0, |p| {
                    if p.sometimes() {
                        p.put("?");
                    }
                    let field = p.pick(&["id", "in", "`a b`"]);
                    p.puts(&[field, ":"]);
                    p.expr();
                });
            }
            _ => {
                self.put(".");
                self.put("root");
            }
        }
    }

    /// A number that an expression may have.
    fn number(&mut self) {
        let number = self.pick(&[
            "0",
            "12",
            "1.5",
            "0x1F",
            "1e3",
            ".5",
            "1.5e-3",
            "9223372036854775807",
            "12u",
        ]);
        // There is no negative one.
        let minus = self.pieces.last().is_some_and(|piece| piece.text == "-");
        self.put(if minus && number == "12u" {
            "12"
        } else {
            number
        });
    }

    /// A string literal.
    pub fn string(&mut self, any: bool) {
        let strings = [
            r#""text""#,
            r#""""#,
            r#""a \"b\" \n c""#,
            "'it'",
            "\"\"\"\n      You are {{ x }}.\n\n        {% if a %}so{% endif %}\n      \"\"\"",
            "'''x\n  y'''",
            r#"r"\d+""#,
            r#""// no comment, and long enough that lines have to be broken somewhere else""#,
            r#"b"\x00""#,
        ];
        let count = strings.len() - usize::from(!any);
        let string = strings[self.below(count)];
        self.put(string);
    }

    /// A type.
    pub fn ty(&mut self) {
        self.type_member();
        while self.grows() {
            self.put("|");
            self.type_member();
        }
    }

    fn type_member(&mut self) {
        self.depth += 1;
        match self.below(if self.depth < 5 { 5 } else { 2 }) {
            0 => {
                let name = self.pick(&["string", "Doc", "json"]);
                self.put(name);
            }
            1 => self.put("\"approve\""),
            2 | 3 => {
                let name = self.pick(&["list", "map"]);
                self.puts(&[name, "<"]);
                self.ty();
                self.put(">");
            }
            _ => {
                self.put("(");
                self.ty();
                self.put(")");
            }
        }
        if self.sometimes() {
            self.put("?");
        }
        self.depth -= 1;
    }

    /// `@name(..)`
    pub fn attribute(&mut self) {
        let name = self.pick(&["desc", "min", "timeout", "effect"]);
        self.puts(&["@", name]);
        if self.sometimes() {
            self.list(["(", ")"], 0, |p| match p.sometimes() {
                true => p.put("10s"),
                false => p.expr(),
            });
        }
    }
}
