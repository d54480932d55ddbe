#!/usr/bin/env node
// Runs the program of this platform's package, as if it had been started itself.
"use strict";

const { spawn } = require("node:child_process");

const platform = `${process.platform}-${process.arch}`;
let program;
try {
  program = require.resolve(`graphc-${platform}/bin/graphc`);
} catch {
  console.error(`graphc: there is no package for ${platform}; build it from its sources: cargo install --path .`);
  process.exit(2);
}

const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
// The terminal sends Ctrl-C to the program too, which ends in its own time.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => signal === "SIGINT" || child.kill(signal));
}
child.on("error", (error) => {
  console.error(`graphc: ${error.message}`);
  process.exit(2);
});
child.on("exit", (status, signal) => {
  if (signal) {
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  } else {
    process.exit(status);
  }
});
