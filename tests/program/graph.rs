//! Graphs, nodes, jumps.

use super::{Program, Separator};

impl Program<'_> {
    pub fn graph(&mut self) {
        self.put("graph");
        self.upper();
        if self.sometimes() {
            self.params(0);
        }
        if self.sometimes() {
            self.put("leaves");
            self.names(0);
        }
        let mut after_expr = false;
        self.braces(9, Separator::Free, |p| {
            let before = std::mem::take(&mut after_expr);
            match p.below(18) {
                0 | 14.. => p.node(),
                1 => p.state(),
                2 => {
                    p.put("context");
                    p.field_block();
                }
                3 => {
                    p.put("tools");
                    p.tool_refs();
                }
                4 => {
                    p.put("model");
                    p.name();
                }
                5 => {
                    p.put("retry");
                    p.retry_spec();
                }
                6 => p.puts(&["timeout", "2h"]),
                7 => {
                    p.put("recursion_limit");
                    p.expr();
                    after_expr = true;
                }
                8 => {
                    p.put("on_error");
                    p.arms_or_arrow();
                }
                9 => {
                    p.puts(&["exit", "when"]);
                    p.expr();
                    after_expr = true;
                }
                10 => {
                    p.put("start");
                    match p.sometimes() {
                        true => p.arms(),
                        false => p.chain_of_edges(),
                    }
                }
                11 => p.static_interrupt(),
                12 => p.migrate(),
                _ => p.edge(before),
            }
        });
    }

    fn edge(&mut self, after_expr: bool) {
        match self.sometimes() {
            true => {
                // A bracket would go on with an expression before it.
                if after_expr {
                    self.separator = Separator::Comma;
                }
                self.names(1);
            }
            false => {
                let name = self.pick(&["a", "b", "state", "node"]);
                self.put(name);
            }
        }
        self.chain_of_edges();
    }

    /// `-> a -> [b, c] -> end`
    fn chain_of_edges(&mut self) {
        for _ in 0..self.below(3) {
            self.put("->");
            match self.sometimes() {
                true => self.names(1),
                false => {
                    let name = self.pick(&["a", "b", "plan"]);
                    self.put(name);
                }
            }
        }
        self.put("->");
        self.jump();
    }

    fn state(&mut self) {
        self.put("state");
        self.braces(5, Separator::Entry, |p| {
            p.declares = true;
            match p.below(6) {
                0 | 1 => p.name(),
                2 => {
                    p.put("out");
                    p.name();
                }
                3 => {
                    // The words before the name tell it from the operator `in`.
                    p.put("in");
                    p.put_glued("out");
                    p.put_glued("field_in_out");
                    p.put_glued(":");
                    return p.state_type();
                }
                4 => {
                    p.separator = match p.separator {
                        Separator::None => Separator::None,
                        _ => Separator::Comma,
                    };
                    p.puts(&["untracked", "in"]);
                    p.name();
                }
                _ => {
                    p.put("in");
                    p.put_glued(":");
                    return p.state_type();
                }
            }
            p.put(":");
            p.state_type();
        });
    }

    fn state_type(&mut self) {
        self.ty();
        if self.sometimes() {
            self.put("via");
            self.name();
            if self.sometimes() {
                self.put("(");
                self.name();
                self.put(")");
            }
        }
        if self.sometimes() {
            self.put("based_on");
            self.list(["[", "]"], 0, |p| {
                p.name();
                if p.sometimes() {
                    p.put("keep");
                }
            });
            if self.sometimes() {
                self.put("reset");
            }
        }
        if self.sometimes() {
            self.attribute();
        }
        if self.sometimes() {
            self.put("=");
            self.expr();
        }
    }

    fn static_interrupt(&mut self) {
        self.put("interrupt");
        self.name();
        let when = self.pick(&["before", "after"]);
        self.put(when);
        self.name();
        self.braces(2, Separator::Free, |p| match p.sometimes() {
            true => p.expect(),
            false => p.ask(),
        });
    }

    fn migrate(&mut self) {
        self.put("migrate");
        self.braces(3, Separator::Free, |p| match p.below(4) {
            0 => {
                p.puts(&["rename", "field"]);
                p.name();
                p.put("->");
                p.name();
            }
            1 => p.puts(&["rename", "node", "a", "->", "b"]),
            2 => {
                p.puts(&["drop", "field"]);
                p.name();
            }
            _ => {
                p.put("default");
                p.name();
                p.put("=");
                p.expr();
            }
        });
    }

    fn node(&mut self) {
        self.declares = true;
        self.put("node");
        self.name();
        self.put(":");
        match self.below(9) {
            0 => self.put("update"),
            1 => self.put("llm"),
            2 => self.put("agent"),
            3 => self.put("tools"),
            4 => self.put("branch"),
            5 => self.put("interrupt"),
            6 => {
                self.puts(&["call", "read"]);
                if self.sometimes() {
                    self.named_args();
                }
            }
            7 => {
                self.puts(&["subgraph", "Chat"]);
                if self.sometimes() {
                    self.named_args();
                }
            }
            _ => self.puts(&["extern", "embed"]),
        }
        if self.sometimes() {
            self.put("->");
            self.target();
        }
        if self.below(4) > 0 {
            self.braces(9, Separator::Free, Self::property);
        }
    }

    fn property(&mut self) {
        match self.below(32) {
            0 | 1 => self.set(),
            2 => self.emit(),
            3 => self.goto(),
            4 => self.bound(),
            5 => self.require(),
            6 => {
                self.puts(&["skip", "when"]);
                self.expr();
                if self.sometimes() {
                    self.put("->");
                    self.jump();
                }
            }
            7 => {
                self.put("model");
                self.name();
            }
            8 => {
                self.put("system");
                self.template();
            }
            9 => {
                self.put("prompt");
                self.template();
            }
            10 => {
                self.put("messages");
                self.expr();
            }
            11 => {
                self.put("output");
                self.ty();
            }
            12 => {
                self.put("tools");
                self.tool_refs();
            }
            13 => self.puts(&["tool_choice", "auto"]),
            14 => self.puts(&["stream", "true"]),
            15 => {
                self.put("max_turns");
                self.expr();
            }
            16 => {
                self.put("until");
                self.expr();
            }
            17 => {
                let word = self.pick(&["parallel", "parallel_tools"]);
                self.puts(&[word, "false"]);
            }
            18 => self.ask(),
            19 => self.expect(),
            20 => {
                self.put("with");
                self.named_block();
            }
            21 => {
                self.put("into");
                self.braces(3, Separator::Entry, |p| {
                    p.name();
                    p.put(":");
                    p.name();
                });
            }
            22 => self.puts(&["persist", "thread"]),
            23 => {
                let word = self.pick(&["reads", "writes"]);
                self.put(word);
                self.names(0);
            }
            24 => {
                self.put("ends");
                self.list(["[", "]"], 0, |p| {
                    if p.sometimes() {
                        p.puts(&["parent", "."]);
                    }
                    p.name();
                    if p.sometimes() {
                        p.put("as");
                        p.name();
                    }
                });
            }
            25 => {
                self.put("retry");
                self.retry_spec();
            }
            26 => {
                self.puts(&["timeout", "7d"]);
                if self.sometimes() {
                    self.put("->");
                    self.jump();
                }
            }
            27 => {
                self.put("cache");
                self.puts(&["{", "key"]);
                self.expr();
                self.separator = Separator::Entry;
                self.puts(&["ttl", "1h", "}"]);
            }
            28 => {
                self.put("on_error");
                self.arms_or_arrow();
            }
            29 => {
                self.put("max_visits");
                self.expr();
                self.put("->");
                self.jump();
            }
            30 => match self.sometimes() {
                true => {
                    self.put("tags");
                    self.list(["[", "]"], 0, |p| match p.sometimes() {
                        true => p.put("\"needs review\""),
                        false => p.name(),
                    });
                }
                false => self.put("defer"),
            },
            _ => {
                self.put("input");
                self.field_block();
            }
        }
    }

    fn ask(&mut self) {
        self.put("ask");
        match self.sometimes() {
            true => self.template(),
            false => self.named_block(),
        }
    }

    fn expect(&mut self) {
        self.put("expect");
        self.ty();
    }

    /// `let x = ..`
    pub fn bound(&mut self) {
        self.put("let");
        self.name();
        self.put("=");
        self.expr();
    }

    pub fn require(&mut self) {
        self.put("require");
        self.expr();
        if self.sometimes() {
            self.put("else");
            self.expr();
        }
    }

    pub fn set(&mut self) {
        self.put("set");
        self.braces(4, Separator::Entry, |p| {
            p.name();
            let sign = p.pick(&[":", ":="]);
            p.put(sign);
            p.expr();
        });
    }

    pub fn emit(&mut self) {
        let event = self.pick(&["tick", "changeset.created"]);
        self.puts(&["emit", event]);
        if self.sometimes() {
            self.named_block();
        }
        if self.sometimes() {
            self.puts(&["on", "start"]);
        }
        if self.sometimes() {
            self.put("when");
            self.expr();
        }
    }

    pub fn goto(&mut self) {
        self.put("goto");
        match self.sometimes() {
            true => self.jump(),
            false => self.arms(),
        }
    }

    fn arms_or_arrow(&mut self) {
        match self.sometimes() {
            true => {
                self.put("->");
                self.jump();
            }
            false => self.arms(),
        }
    }

    fn arms(&mut self) {
        self.braces(4, Separator::Free, |p| {
            match p.sometimes() {
                true => p.put("else"),
                false => {
                    p.put("when");
                    p.expr();
                }
            }
            p.put("->");
            p.jump();
        });
    }

    fn jump(&mut self) {
        self.target();
        if self.sometimes() {
            self.braces(3, Separator::Free, |p| match p.sometimes() {
                true => p.set(),
                false => p.emit(),
            });
        }
    }

    fn target(&mut self) {
        self.depth += 1;
        match self.below(if self.depth < 5 { 9 } else { 3 }) {
            0 => {
                let name = self.pick(&["a", "b", "plan"]);
                self.put(name);
            }
            1 => self.put("end"),
            2 => self.puts(&["parent", ".", "up"]),
            3 => self.put("fail"),
            4 => {
                self.puts(&["fail", "("]);
                self.expr();
                self.put(")");
            }
            5 | 6 => self.list(["[", "]"], 1, Self::target),
            7 => {
                self.put("(");
                self.expr();
                self.put(")");
            }
            _ => {
                self.puts(&["each", "x", "in"]);
                self.expr();
                self.puts(&["->", "worker"]);
                if self.sometimes() {
                    self.put("with");
                    self.named_block();
                }
                if self.sometimes() {
                    self.put("then");
                    self.target();
                }
            }
        }
        self.depth -= 1;
    }
}
