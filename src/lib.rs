//! Agent flows as text: a compiler that proves a flow before it runs, and a durable runtime that
//! runs it.
//!
//! **To run flows from a Rust program, begin at [`embed`]**: a flow from a file, models, tools and nodes of one's own, streams, threads
//! that are resumed. `examples/` has whole programs.
//!
//! This page is the map of the code: the stages, the layers with what each knows and does not know, the
//! invariants with the tests that hold them, and what is deliberately absent. What users read is
//! `README.md` and `docs/`; a module's own page says how it is built inside.
//!
//! # The stages
//!
//! ```text
//!  a.graph, b.graph      prompts/*.md                        a.test.yaml    graphc.yaml
//!        │                    │                                   │              │
//!        ▼                    │                                   └──────┬───────┘
//!   parse::parse              │          text -> ast::File               │
//!        │                    │                                          ▼
//!        ▼                    ▼                                    backend::bind
//!   resolve::resolve ◄── resolve::Loader  trees -> Program of ids        │
//!        │                                                               │
//!        ▼                                                               │
//!   check::check                          types, nulls, flow, data       │
//!        │                                                               │
//!        ▼                                                               │
//!    lint::lint                           what is allowed and unwise     │
//!        │                                                               │
//!        ▼                                                               ▼
//!   lower::lower ───► ir::Flow ─────► run::plan ─────► run::engine ◄─ models, tools
//!        (cannot fail)   │            (slots, no names)   │    ▲
//!                        │                                ▼    │
//!                   graphc build                      run::store (memory, SQLite, PostgreSQL)
//!                                                         │
//!            diag: every finding, rendered                └──► run::event: one stream, read by all
//! ```
//!
//! Each stage is one free function at the top of its module. It takes what the stage before gave, and gives back a
//! value and diagnostics; [`compile()`](compile::compile) conducts them. Every stage goes on after an error: what is
//! already reported has a type of its own ([`Type::Error`](expr::Type::Error)), so that one mistake makes one message.
//! Lowering takes a checked program and cannot fail.
//!
//! # The layers, from the inside out
//!
//! Imports point up this list only.
//!
//! | module | knows | does not know |
//! |---|---|---|
//! | [`base`] | source texts, places in them, typed ids, names that are close | anything of ours |
//! | [`value`] | values at run time: immutable, shared | types, graphs |
//! | [`diag`] | diagnostics, their codes and pages, the forms they are shown in | what a graph is |
//! | [`ast`] | what was written | names' meanings |
//! | [`parse`] | text to `ast`; the only module that knows pest | names, kinds, files |
//! | [`fmt`](mod@fmt) | the layout of a text | what it means, files |
//! | [`expr`] | expressions and templates: types, evaluation, the function table | graphs, nodes |
//! | [`ir`] | the contract of compiler and runtime: plain, versioned data | syntax trees, programs |
//! | [`resolve`] | files, names, ids, which property belongs where | types fitting each other, edges as a graph |
//! | [`check`] | types at each place, where a run can go, who writes what | how anything runs |
//! | [`lint`] | what is allowed and unwise, and the comments that allow it | settings, backends |
//! | [`lower`] | a checked program to `ir` | errors |
//! | [`compile`](mod@compile) | the order of the stages | |
//! | [`audit`] | what a flow can do and cost at worst | files, prices |
//! | [`viz`] | drawings of a flow | files |
//! | [`import`] | drawings of other systems to the skeleton of a flow | files |
//! | [`project`] | files that belong together: `graphc.yaml` and scenarios, what a flow lacks of them | anything that runs |
//! | [`run`] | super-steps, reducers, the journal, interrupts, streams; the traits of models, tools, stores and the clock | the compiler, providers, SQL, terminals |
//! | [`store`] | threads in memory, in SQLite and in PostgreSQL | what a record means |
//! | [`backend`] | model providers, tools, the scripts of scenarios | how a flow runs |
//! | [`scenario`] | playing a flow's scenarios, what is seen and what is judged | finding files, reports |
//! | [`evaluate`](mod@evaluate) | data sets, scorers, what they come to, and fine-tuning lines | finding files, tables |
//! | [`embed`] | how an engine is put together of the files of a project | arguments, terminals |
//! | [`cli`] | arguments, files, terminals, exit statuses | anything that another program would call |
//!
//! `run`, `store` and `backend` see of the compiler only `base`, `value`, `diag`, `expr`, `ir` and `project`. Files and the
//! environment are touched by `cli`, `embed`, `project`, `scenario` (processes that it ends, and their folders), `backend` and `store`; the clock and chance of a run by
//! one trait, [`run::ambient`].
//!
//! The feature `run` (on by default) has `run`, `store`, `backend`, `scenario`, `evaluate`, and `cli::running` with the commands that need them. Without it a build has what checks, formats, draws and
//! audits flows, and needs no runtime, no database and no TLS.
//!
//! # A run
//!
//! [`run::engine::Engine`] runs an [`ir::Flow`] on a thread. A graph under way is a [`run::frame::Frame`]: a pure state
//! machine that turns the outputs of a step's tasks, in a fixed order, into the next state and the next tasks.
//! [`run::step`] does the I/O around it, all tasks of a step in one future. What a task asks of the outside is an
//! effect, numbered by what the task does and not by when it happened; [`run::journal`] keeps the result of each before anything
//! that depends on it happens. A run that goes on reads the last checkpoints and the effects since, and runs the open
//! step again; what has an entry in the journal is answered from it. Going back is no more than that: a fork is a new thread with the
//! records of an old one up to a checkpoint, an edit one more checkpoint.
//!
//! # Glossary
//!
//! What the code's words mean. Most are those of compilers and of durable execution; how they hang together is told by an example in
//! `docs/inside.md`.
//!
//! | word | meaning |
//! |---|---|
//! | **Program** | A resolved flow: typed ids in place of names, expressions as trees ([`resolve::Program`]) |
//! | **Instance** | A graph with values for its parameters: what is called monomorphization elsewhere ([`check::instance`]) |
//! | **Block** | A node, a join, the entry or an end in the control-flow graph ([`check::cfg::BlockId`]) |
//! | **Transition** | One of the alternatives behind a block. A finished block takes exactly one; it starts *all* of its successors, so that the graph is an AND-OR graph ([`check::cfg::model`]) |
//! | **May happen in parallel** | Two nodes that can run in the same super-step. An over-approximation: it misses no pair ([`check::cfg::MayHappenInParallel`]) |
//! | **Witness** | The two paths from a fork that a finding about parallel nodes shows |
//! | **Flow state** | What is known at a node: places that are not null, fields that have a value ([`check::types::flow_state`]) |
//! | **Reference** | A use of a name of a file's top level, with where that is declared ([`resolve::Program::references`]) |
//! | **Access path** | The place that an expression names, `state.docs[state.k].title`, as a name and steps ([`base::AccessPath`]) |
//! | **Narrowing** | What a condition proves of the types below it: `x != null` makes a `T?` a `T` ([`expr::infer::Narrowing`]). A tool's `where` narrows its arguments ([`check::narrow`]) |
//! | **Label** | Untrusted, private or secret: a fact of a value that follows it through expressions, fields and calls. Called graphs have summaries ([`check::safety`]) |
//! | **Sink** | A parameter that takes no untrusted text |
//! | **Folding** | Evaluation before a run, of what is the same in every run ([`expr::fold`](mod@expr::fold)) |
//! | **Cascade** | Findings that only follow from another one, which are left out ([`check::cascade`]) |
//! | **Lowering** | From a program to the IR, [`ir::Flow`], whose JSON is the contract of compiler and runtime |
//! | **Plan** | A flow whose expressions and templates are compiled to closures over slots ([`run::plan`]) |
//! | **Slot** | A name of a scope as an index ([`expr::Slot`]) |
//! | **Super-step** | All tasks that run at the same time, and the commit behind them. Each task sees the state as it was when the step began ([`run::step`]) |
//! | **Task** | One visit of a node ([`run::task`]) |
//! | **Frame** | A graph under way: its state and next tasks. A called graph is a frame within a task ([`run::frame`]) |
//! | **Channel** | A field with its reducer, which puts several writes of a step together ([`run::channel`]) |
//! | **Effect** | A call to the outside: of a model, a tool, a clock. Its key is made of what the task does |
//! | **Journal** | The results of effects, each kept before what depends on it happens ([`run::journal`]) |
//! | **Checkpoint** | What a super-step changed, as one record of the thread |
//! | **Thread** | The records of one run and of those that went on from it. A **fork** is a new thread with the records up to a checkpoint |
//! | **Lease** | The right of one process to write to a thread, with a number that grows ([`store`]) |
//! | **Interrupt** | A question to a person, at which a run rests |
//! | **Scenario** | A test of a flow: scripted models and tools, and what is expected ([`scenario`]) |
//!
//! # Invariants
//!
//! - Imports point to inner layers, only the outer ones touch the machine, only `parse` knows pest: `tests/layers.rs`.
//! - The same source gives the same bytes of IR, and the flow's version does not change with its layout: `tests/ir.rs`.
//! - Any text gives a tree and diagnostics, never a panic, and bounded depth: `tests/parse.rs`.
//! - Any text that comes from outside gives an answer in bounded time, stack and memory: `tests/fuzz.rs`.
//! - Every code has a page, whose wrong example is reported with it and whose right one with nothing; `docs/diagnostics/README.md` is made
//!   from the pages: `tests/explain.rs`, `tests/check.rs`.
//! - Expressions mean what CEL's conformance cases say, but for the listed exceptions: `tests/cel.rs`; they agree with another
//!   implementation: `tests/differential.rs`; each example of the function table is true: `tests/expr.rs`.
//! - An expression that fails in a run names the part of the source that did, wherever it stands: `tests/places.rs`.
//! - The stores agree with each other record by record, also on what they refuse, and a process that is killed loses nothing
//!   that was kept: `tests/store`.
//! - Whichever checkpoint a thread is forked at, the results that it had lead to the same end and nothing is called again:
//!   `tests/travel.rs`.
//! - A run's outcome does not depend on timing, on a stop after any step, or on a crash at any effect, and no finished
//!   effect is made twice: `tests/run.rs`, `tests/processes.rs`.
//! - A call of a tool that asks is made only with arguments that a person has agreed to (or left open, by a `permit` without brackets), on that
//!   very thread, whatever version of the flow goes on, whatever an edit puts in place of a step and whichever process is killed:
//!   `tests/run/permit*`, `tests/versions/permission*`, `tests/versions/call_of_other*`, `tests/cli/permissions*`, `tests/kill`.
//! - Services that a scenario has started end with the command, unless it is killed itself, and so does all that they have started; a real call
//!   that was cut off is made again with its key: `tests/services.rs`.
//! - A step keeps what it changes, and nothing in proportion to the size of the state or of the graph, nor to what waits or lasts
//!   between calls (`persist thread`): `benches/`, `tests/engine/lasting.rs`.
//! - What a checkpoint has on top of those of frames further out is put together in one place, `run::persisted::resolve`:
//!   `tests/engine/lasting.rs`, `tests/travel.rs`.
//! - Each crate in `Cargo.toml` has its reason in `docs/dependencies.md`: `tests/dependencies.rs`. Flows in the documents
//!   compile and their commands do what is shown: `tests/docs.rs`, `tests/readme.rs`, `tests/cli.rs`.
//!
//! # Deliberately absent
//!
//! - **Code in flows.** A flow is data: expressions can't loop without a bound, touch the outside or define
//!   functions. What needs code is a tool.
//! - **Threads and locks in a step.** Order comes from the flow's text; tasks wait side by side in one future and share nothing
//!   but the state as it was when the step began.
//! - **Macros, plug-ins and a registry of node kinds.** A kind is a variant and a file in each stage; the compiler
//!   of this crate finds the places that lack it.
//! - **A cache that nobody asked for.** What a model or tool said is in the journal of its step, nowhere else, unless its node says
//!   `cache`.
//! - **Passing names at run time.** Fields, nodes, tools and models are indices; a name that reaches the runtime from
//!   a model is looked up in a table that the compiler has made.

// What pest generates without its `std` feature (a stack check at every rule) names `alloc`.
extern crate alloc;

pub mod ast;
pub mod audit;
#[cfg(feature = "run")]
pub mod backend;
pub mod base;
pub mod check;
pub mod cli;
pub mod compile;
pub mod diag;
pub mod embed;
#[cfg(feature = "run")]
pub mod evaluate;
pub mod expr;
pub mod fmt;
pub mod import;
pub mod ir;
pub mod lint;
pub mod lower;
pub mod parse;
pub mod project;
pub mod resolve;
#[cfg(feature = "run")]
pub mod run;
#[cfg(feature = "run")]
pub mod scenario;
#[cfg(feature = "run")]
pub mod store;
pub mod value;
pub mod viz;
