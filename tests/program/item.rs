//! Items of a file.

use super::{Program, Separator};

impl Program<'_> {
    pub fn file(&mut self) {
        for _ in 0..1 + self.below(5) {
            self.separator = Separator::None;
            self.item();
        }
    }

    fn item(&mut self) {
        self.declares = true;
        match self.below(16) {
            0 | 13.. => self.graph(),
            1 => self.import(),
            2 => {
                self.put("type");
                self.upper();
                match self.sometimes() {
                    true => {
                        self.put("=");
                        self.ty();
                    }
                    false => self.field_block(),
                }
            }
            3 => {
                self.put("enum");
                self.upper();
                self.braces(4, Separator::Entry, |p| {
                    p.declares = true;
                    p.name();
                    if p.sometimes() {
                        p.attribute();
                    }
                });
            }
            4 => {
                self.put("reducer");
                self.name();
                self.params(0);
                self.put("->");
                self.ty();
                self.put("=");
                self.expr();
            }
            5 => {
                self.put("event");
                let name = self.pick(&["tick", "changeset.created", "a.b.c"]);
                self.put(name);
                if self.sometimes() {
                    self.field_block();
                }
            }
            6 => {
                self.put("model");
                self.name();
                self.puts(&["=", "\"openai/gpt\""]);
                if self.sometimes() {
                    self.settings();
                }
            }
            7 => self.tool(),
            8 => {
                self.put("toolset");
                self.name();
                self.put("=");
                self.tool_refs();
            }
            9 => {
                self.put("retry");
                self.name();
                self.put("=");
                self.retry_spec();
            }
            10 => {
                self.put("prompt");
                self.name();
                if self.sometimes() {
                    self.params(0);
                }
                self.put("=");
                self.template();
            }
            11 => {
                self.put("graph");
                self.upper();
                self.put("=");
                self.upper();
                if self.sometimes() {
                    self.named_args();
                }
            }
            _ => {
                self.put("function");
                self.name();
                self.params(0);
                self.put("->");
                self.ty();
            }
        }
    }

    fn import(&mut self) {
        self.declares = false;
        self.put("import");
        self.braces(4, Separator::Entry, |p| {
            p.name();
            if p.sometimes() {
                p.put("as");
                p.name();
            }
        });
        self.puts(&["from", "\"./types.graph\""]);
    }

    /// Fields between braces.
    pub fn field_block(&mut self) {
        self.braces(4, Separator::Entry, Self::field);
    }

    fn field(&mut self) {
        self.declares = true;
        self.name();
        self.put(":");
        self.ty();
        if self.sometimes() {
            self.put("=");
            self.expr();
        }
        if self.sometimes() {
            self.attribute();
        }
    }

    /// Parameters between parentheses.
    pub fn params(&mut self, least: usize) {
        self.list(["(", ")"], least, Self::field);
    }

    fn named(&mut self) {
        self.name();
        self.put(":");
        self.expr();
    }

    pub fn named_args(&mut self) {
        self.list(["(", ")"], 0, Self::named);
    }

    pub fn named_block(&mut self) {
        self.braces(4, Separator::Entry, Self::named);
    }

    /// Names between brackets.
    pub fn names(&mut self, least: usize) {
        self.list(["[", "]"], least, Self::name);
    }

    pub fn settings(&mut self) {
        self.braces(4, Separator::Entry, |p| match p.below(5) {
            0 => p.puts(&["temperature", "0.2"]),
            1 => p.puts(&["timeout", "60s"]),
            2 => {
                p.put("fallback");
                p.names(0);
            }
            3 => {
                p.put("effort");
                p.string(true);
            }
            _ => {
                p.put("retry");
                p.retry_spec();
            }
        });
    }

    pub fn retry_spec(&mut self) {
        match self.below(if self.depth < 4 { 3 } else { 2 }) {
            0 => self.count(),
            1 => self.name(),
            _ => self.settings(),
        }
    }

    pub fn template(&mut self) {
        match self.below(4) {
            0 | 1 => self.string(false),
            2 => self.puts(&["file", "\"prompts/x.md\""]),
            _ => {
                self.name();
                self.named_args();
            }
        }
    }

    pub fn tool_refs(&mut self) {
        self.list(["[", "]"], 0, |p| {
            p.name();
            if p.sometimes() {
                p.put("where");
                p.expr();
            }
        });
    }

    fn tool(&mut self) {
        self.put("tool");
        self.name();
        self.params(0);
        if self.sometimes() {
            self.put("->");
            self.ty();
        }
        for _ in 0..self.below(3) {
            self.attribute();
        }
        if !self.sometimes() {
            return;
        }
        let (mut goto, mut returns) = (false, false);
        self.braces(6, Separator::Free, |p| match p.below(7) {
            0 => p.set(),
            1 => {
                p.put("reads");
                p.field_block();
            }
            2 => p.bound(),
            3 => p.require(),
            4 => p.emit(),
            5 if !goto => {
                goto = true;
                p.goto();
            }
            6 if !returns => {
                returns = true;
                p.put("return");
                p.expr();
            }
            _ => p.set(),
        });
    }
}
