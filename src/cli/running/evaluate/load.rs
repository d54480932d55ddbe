//! What an evaluation is made of, read and held against each other: its file, the flow, rows and scorers.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map as JsonMap, Value as Json};

use crate::backend::telemetry::Telemetry;
use crate::base::{SourceMap, Span};
use crate::cli::running::run::telemetry;
use crate::cli::{Context, Exit, Failure, files, flow, settings};
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::evaluate::fit::fit;
use crate::evaluate::play::Outside;
use crate::evaluate::run::Evaluation;
use crate::evaluate::scope::Known;
use crate::evaluate::scorer::{Around, Scorer};
use crate::evaluate::spec::{self, Spec};
use crate::evaluate::stage::{NoStage, Stage, find, whole};
use crate::ir::Flow;
use crate::project::bindings::Bindings;
use crate::project::scenario::{Row, rows};
use crate::project::yaml::Document;

use super::Args;

/// How the names of evaluations end.
const ENDING: &str = ".evaluate.yaml";

/// An evaluation that is ready to run.
pub struct Loaded {
    /// It.
    pub evaluation: Evaluation,
    /// Where traces and metrics go, where that is asked for.
    pub telemetry: Option<Telemetry>,
    /// The flow's file.
    pub flow: String,
    /// The flow's version.
    pub version: String,
    /// The data sets.
    pub data: Vec<String>,
    /// By how much a mean may be lower than in an earlier evaluation.
    pub tolerance: f64,
}

/// Reads all of it. What is wrong has been said when this fails; then nothing has run.
pub fn load(args: &Args, context: &Context) -> Result<Loaded, Failure> {
    let mut reader = Reader {
        args,
        context,
        sources: SourceMap::new(),
    };
    let spec = reader.spec()?;
    let says = spec
        .as_ref()
        .map(|spec| spec.says.clone())
        .unwrap_or_default();
    let path = reader.flow_file(spec.as_ref())?;
    let loaded = flow::load(&path, context)?;
    let stage = reader.stage(&loaded.flow, spec.as_ref())?;
    let known = Known::of(&stage);
    let scorers = reader.scorers(&loaded.flow, &known, spec.as_ref())?;
    let sets = reader.data(&says.data)?;
    let rows = reader.rows(&sets, &says.defaults)?;
    let names = scorers.iter().map(|scorer| scorer.name.as_str());
    let config = settings::load(&loaded.project, context, &mut reader.sources)?;
    let misfits = fit(&rows, &stage, &config, names);
    if misfits.has_errors() {
        return Err(reader.refused(&misfits));
    }
    let refused = |found| settings::say(&found, &reader.sources, context, Exit::Unusable);
    let telemetry = telemetry::start(&loaded.project, &config).map_err(refused)??;
    let bindings = Bindings {
        config,
        folder: loaded.project.home.clone(),
        sources: Arc::new(reader.sources.clone()),
        secrets: Arc::default(),
    };
    let environment = settings::environment(&loaded.project, &[])?;
    let outside = Outside {
        bindings: Arc::new(bindings.with_secrets(&environment)),
        observed: telemetry::observed(telemetry.as_ref()),
    };
    let repeats = args.repeats.or(says.repeats).unwrap_or(1);
    let evaluation = Evaluation::new(
        (stage, rows),
        (scorers, known),
        (repeats, args.live),
        outside,
    );
    let evaluation = evaluation.map_err(refused)?;
    Ok(Loaded {
        evaluation,
        telemetry,
        flow: files::shown(&path),
        version: loaded.flow.version(),
        data: sets.iter().map(|path| files::shown(path)).collect(),
        tolerance: args.tolerance.or(says.tolerance).unwrap_or(0.0),
    })
}

struct Reader<'a> {
    args: &'a Args,
    context: &'a Context,
    sources: SourceMap,
}

impl Reader<'_> {
    fn refused(&self, found: &Diagnostics) -> Failure {
        settings::say(found, &self.sources, self.context, Exit::Errors)
    }

    fn refused_at(&self, at: Span, message: String, help: Option<String>) -> Failure {
        let mut found = Diagnostics::new();
        found.push(Diagnostic::new(&codes::INVALID_SCENARIO, message, at).maybe_help(help));
        self.refused(&found)
    }

    /// The file of the evaluation, where one was named.
    fn spec(&mut self) -> Result<Option<Spec>, Failure> {
        let name = self.args.file.file_name().and_then(|name| name.to_str());
        if !name.is_some_and(|name| name.ends_with(ENDING)) {
            return Ok(None);
        }
        let source = files::read(&self.args.file)?;
        let file = self.sources.add(&source.name, &source.text);
        let spec = spec::read(&self.sources, file);
        spec.map(Some).map_err(|found| self.refused(&found))
    }

    /// A path that the file of the evaluation names.
    fn beside(&self, path: &str) -> PathBuf {
        self.args.file.parent().unwrap_or(Path::new("")).join(path)
    }

    fn flow_file(&self, spec: Option<&Spec>) -> Result<PathBuf, Failure> {
        let Some(spec) = spec else {
            return Ok(self.args.file.clone());
        };
        let path = match &spec.says.flow {
            Some(flow) => self.beside(flow),
            None => {
                let name = self.args.file.file_name().and_then(|name| name.to_str());
                let stem = name.and_then(|name| name.strip_suffix(ENDING));
                self.beside(&format!("{}.graph", stem.unwrap_or_default()))
            }
        };
        if !path.exists() {
            let message = format!("there is no flow `{}`", files::shown(&path));
            let help = "name it: `flow: FILE.graph`".to_owned();
            return Err(self.refused_at(spec.span("flow"), message, Some(help)));
        }
        Ok(path)
    }

    fn stage(&self, flow: &Arc<Flow>, spec: Option<&Spec>) -> Result<Stage, Failure> {
        let says = spec.map(|spec| &spec.says);
        let own_graph = says.and_then(|says| says.graph.as_deref());
        let own_stage = says.and_then(|says| says.stage.as_deref());
        let stage = self.args.stage.as_deref().or(own_stage);
        let named = self.args.graph.as_deref().or(own_graph);
        let graph = match named {
            Some(_) => Some(flow::graph(flow, named)?),
            None => flow.entry,
        };
        let found = match (stage, graph) {
            (Some(stage), graph) => find(flow, graph, stage),
            (None, Some(graph)) => whole(flow, graph),
            (None, None) => whole(flow, flow::graph(flow, None)?),
        };
        found.map_err(|NoStage { message, help }| {
            match spec.filter(|_| self.args.stage.is_none() && own_stage.is_some()) {
                Some(spec) => self.refused_at(spec.span("stage"), message, help),
                None => match help {
                    Some(help) => Failure::unusable(message).help(help),
                    None => Failure::unusable(message),
                },
            }
        })
    }

    fn scorers(
        &mut self,
        flow: &Arc<Flow>,
        known: &Known,
        spec: Option<&Spec>,
    ) -> Result<Vec<Scorer>, Failure> {
        let (document, folder) = match (&self.args.scorers, spec) {
            (Some(given), _) => self.given_scorers(given)?,
            (None, Some(spec)) => {
                let folder = self.args.file.parent().unwrap_or(Path::new("")).to_owned();
                (spec.document.clone(), folder)
            }
            (None, None) => {
                return Err(Failure::unusable("there is no scorer: nothing would be judged")
                    .help("add `--scorers '{ right: { exact: output.FIELD } }'`, or name a `NAME.evaluate.yaml`"));
            }
        };
        let file = |path: &str| {
            let source = files::read(&folder.join(path));
            source
                .map(|source| source.text)
                .map_err(|failure| failure.message)
        };
        let around = Around {
            flow,
            known,
            file: &file,
        };
        spec::scorers(&document, &around).map_err(|found| self.refused(&found))
    }

    /// Scorers of the command line, and the folder that files in them are relative to.
    fn given_scorers(&mut self, given: &str) -> Result<(Document, PathBuf), Failure> {
        let (name, text, folder) = match given.trim_start().starts_with('{') {
            true => ("--scorers".to_owned(), given.to_owned(), PathBuf::new()),
            false => {
                let path = Path::new(given);
                let source = files::read(path)?;
                let folder = path.parent().unwrap_or(Path::new("")).to_owned();
                (source.name, source.text, folder)
            }
        };
        let file = self.sources.add(&name, &text);
        let document = Document::parse(&self.sources, file, &codes::INVALID_SCENARIO);
        let document = document.map_err(|found| self.refused(&found))?;
        Ok((document, folder))
    }

    /// The data sets: those of the command line, else those of the file.
    fn data(&self, own: &[String]) -> Result<Vec<PathBuf>, Failure> {
        let named: Vec<PathBuf> = match self.args.data.as_slice() {
            [] => own.iter().map(|path| self.beside(path)).collect(),
            given => given.to_vec(),
        };
        match named.is_empty() {
            true => Err(Failure::unusable("there is no data set").help(
                "name one with `--data SET.jsonl`, or under `data` in the file of the evaluation",
            )),
            false => Ok(named),
        }
    }

    fn rows(
        &mut self,
        sets: &[PathBuf],
        defaults: &JsonMap<String, Json>,
    ) -> Result<Vec<Row>, Failure> {
        let mut all: Vec<Row> = Vec::new();
        let mut found = Diagnostics::new();
        for path in sets {
            let source = files::read(path)?;
            let file = self.sources.add(&source.name, &source.text);
            match rows(&source.text, file, defaults) {
                Ok(rows) => {
                    for row in rows {
                        if all.iter().any(|known| known.id == row.id) {
                            let message = format!("there is a row `{}` already", row.id);
                            let at = row.span(&["id"]);
                            found.push(Diagnostic::new(&codes::INVALID_SCENARIO, message, at));
                        }
                        all.push(row);
                    }
                }
                Err(wrong) => found.append(wrong),
            }
        }
        match found.is_empty() {
            true => Ok(all),
            false => Err(self.refused(&found)),
        }
    }
}
