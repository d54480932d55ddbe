// Tokens of flows, as an editor has them: `node tokenize.mjs GRAMMAR FILE..` prints one JSON list a line,
// `[file, line, column, text, scopes]`, for each token that is not blank. Lines and columns count from 1.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import process from "node:process";

const require = createRequire(process.cwd() + "/");
const textmate = require("vscode-textmate");
const oniguruma = require("vscode-oniguruma");

const wasm = readFileSync(require.resolve("vscode-oniguruma/release/onig.wasm"));
await oniguruma.loadWASM(wasm.buffer.slice(wasm.byteOffset, wasm.byteOffset + wasm.byteLength));

const [path, ...files] = process.argv.slice(2);
const registry = new textmate.Registry({
  onigLib: Promise.resolve({
    createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
    createOnigString: (text) => new oniguruma.OnigString(text),
  }),
  loadGrammar: async () => textmate.parseRawGrammar(readFileSync(path, "utf8"), path),
});
const grammar = await registry.loadGrammar("source.graphc");

for (const file of files) {
  let rules = textmate.INITIAL;
  const lines = readFileSync(file, "utf8").split("\n");
  const out = [];
  lines.forEach((line, at) => {
    const tokens = grammar.tokenizeLine(line, rules);
    rules = tokens.ruleStack;
    for (const token of tokens.tokens) {
      const text = line.slice(token.startIndex, token.endIndex);
      if (text.trim() !== "") {
        out.push(JSON.stringify([file, at + 1, token.startIndex + 1, text, token.scopes.slice(1)]));
      }
    }
  });
  process.stdout.write(out.join("\n") + "\n");
}
