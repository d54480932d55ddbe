//! What `graphc.yaml` says of tools and models, held against the flows that it serves: names that no flow has, tools with
//! a body, arguments and results that a tool can't have. All profiles are looked at, used or not.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::{SourceMap, Span, name};
use crate::diag::{Code, Diagnostic, Diagnostics, Level, codes};
use crate::expr::accept::{accept, accept_parts};
use crate::expr::{Type, TypeTable};
use crate::project::config::{Config, Entry, ModelBinding, ToolSpec};
use crate::project::spec::http;
use crate::project::spec::script::ToolReply;
use crate::project::spec::sql::{SqlSpec, fit};
use crate::project::yaml::{Document, Path, Step};
use crate::resolve::Program;

/// Errors behind which a part of a flow is not known: a file that is not read to its end, an import that leads nowhere.
static TORN: &[&Code] = &[
    &codes::SYNTAX_ERROR,
    &codes::UNCLOSED,
    &codes::UNKNOWN_KEYWORD,
    &codes::BAD_LITERAL,
    &codes::FILE_NOT_FOUND,
    &codes::UNKNOWN_MODULE,
];

/// What a flow has that settings can speak of.
#[derive(Debug)]
pub struct Served {
    tools: BTreeMap<String, Shape>,
    models: BTreeSet<String>,
    types: TypeTable,
    /// Names that stand for nothing in it, which is said there.
    unknown: BTreeSet<String>,
    /// A part of it was not read: what that declares is not known.
    damaged: bool,
}

/// A tool, as far as what serves it has to fit.
#[derive(Debug)]
struct Shape {
    params: Vec<(String, Type)>,
    returns: Option<Type>,
    body: bool,
    /// The runtime serves it where nothing else does.
    standard: bool,
    /// A value stands in for a result that is wrong.
    mended: bool,
}

impl Served {
    /// Reads it out of a program and what was found in it.
    pub fn new(program: &Program, found: &Diagnostics) -> Self {
        let unknown = found.iter().filter_map(Diagnostic::unknown_name);
        let tools = program.tools.iter().map(|tool| {
            let params = tool.params.iter();
            let params = params.map(|param| (param.name.node.clone(), param.ty.node.clone()));
            let shape = Shape {
                params: params.collect(),
                returns: tool.returns.as_ref().map(|ty| ty.node.clone()),
                body: tool.body.is_some(),
                standard: tool.module.is_some(),
                mended: tool.on_error.is_some(),
            };
            (tool.name.node.clone(), shape)
        });
        let models = program.models.iter();
        Self {
            tools: tools.collect(),
            models: models.map(|model| model.name.node.clone()).collect(),
            types: program.types.clone(),
            unknown: unknown.map(|unknown| unknown.name.clone()).collect(),
            damaged: found
                .iter()
                .any(|found| TORN.iter().any(|code| std::ptr::eq(*code, found.code))),
        }
    }
}

/// Whether settings say anything that could not fit.
pub fn speaks(config: &Config) -> bool {
    let mut parts = config.parts.iter();
    parts.any(|part| !part.tools.is_empty() || !part.models.is_empty())
}

/// All that fits none of the flows. `elsewhere` says whether a flow that was not looked at has a name.
pub fn unfit(
    flows: &[Served],
    config: &Config,
    sources: &SourceMap,
    elsewhere: &dyn Fn(&str) -> bool,
) -> Diagnostics {
    let Some(file) = config.file.filter(|_| !flows.is_empty()) else {
        return Diagnostics::new();
    };
    let Ok(document) = Document::parse(sources, file, &codes::INVALID_CONFIG) else {
        return Diagnostics::new();
    };
    let mut rule = Rule {
        flows,
        config,
        sources,
        document,
        elsewhere,
        found: Diagnostics::new(),
    };
    for part in &config.parts {
        for (name, entry) in &part.tools {
            rule.tool(name, entry);
        }
        for (name, entry) in &part.models {
            rule.model(name, entry, part);
        }
    }
    rule.found
}

struct Rule<'a> {
    flows: &'a [Served],
    config: &'a Config,
    sources: &'a SourceMap,
    document: Document,
    elsewhere: &'a dyn Fn(&str) -> bool,
    found: Diagnostics,
}

impl<'a> Rule<'a> {
    fn report(&mut self, span: Span, message: String, help: Option<String>) {
        let found = Diagnostic::new(&codes::INVALID_CONFIG, message, span);
        self.found.push(found.maybe_help(help));
    }

    /// A name that no flow has: an error where one that lacks its entry is nearly the same, else doubtful.
    fn unknown(&mut self, what: &str, name: &str, span: Span, lacking: BTreeSet<&str>) {
        let said = |flow: &Served| flow.damaged || flow.unknown.contains(name);
        if self.flows.iter().any(said) {
            return;
        }
        let message = format!("no flow has a {what} `{name}`");
        let near = name::closest(name, lacking);
        if near.is_none() && (self.elsewhere)(name) {
            return;
        }
        let found = Diagnostic::new(&codes::INVALID_CONFIG, message, span);
        self.found.push(match near {
            Some(near) => found.help(format!("did you mean `{near}`?")),
            None => {
                let mut found =
                    found.help("take it out, or give it the name that it has in the flow");
                found.level = Level::Warning;
                found
            }
        });
    }

    fn tool(&mut self, name: &str, entry: &Entry<ToolSpec>) {
        let Some(span) = entry.span else { return };
        let flows = self.flows;
        let having = flows.iter().filter_map(|flow| {
            let shape = flow.tools.get(name)?;
            Some((shape, &flow.types))
        });
        let having: Vec<(&Shape, &TypeTable)> = having.collect();
        if having.is_empty() {
            let bound = |name: &str| {
                let mut parts = self.config.parts.iter();
                parts.any(|part| part.tools.contains_key(name))
            };
            let tools = flows.iter().flat_map(|flow| &flow.tools);
            let open = tools.filter(|(name, shape)| !shape.body && !shape.standard && !bound(name));
            let lacking = open.map(|(name, _)| name.as_str()).collect();
            return self.unknown("tool", name, span, lacking);
        }
        let served: Vec<(&Shape, &TypeTable)> = having
            .into_iter()
            .filter(|(shape, _)| !shape.body)
            .collect();
        if served.is_empty() {
            let message = format!("tool `{name}` has a body, which is what runs");
            let help = "take this out, or the body".to_owned();
            return self.report(span, message, Some(help));
        }
        match &entry.value {
            ToolSpec::Command(_) | ToolSpec::Graph(_) | ToolSpec::Mcp(_) => {}
            ToolSpec::Sql(spec) => self.query(name, spec, span, &served),
            ToolSpec::Http(spec) => {
                for (used, _) in http::arguments(spec).unwrap_or_default() {
                    self.argument(name, &used, span, &served);
                }
            }
            ToolSpec::Script(replies) => {
                for reply in replies {
                    self.reply(name, reply, &served);
                }
            }
        }
    }

    /// What of a query fits the tool of none of the flows.
    fn query(&mut self, tool: &str, spec: &SqlSpec, entry: Span, served: &[(&Shape, &TypeTable)]) {
        if self.flows.iter().any(|flow| flow.damaged) {
            return;
        }
        let misfits = served.iter().map(|(shape, types)| {
            let params = shape.params.iter();
            let params = params.map(|(name, ty)| (name.as_str(), ty)).collect();
            let returns = shape.returns.as_ref().filter(|_| !shape.mended);
            fit::misfits(spec, tool, &params, returns.map(|ty| (ty, *types)))
        });
        let Some(least) = misfits.min_by_key(Vec::len) else {
            return;
        };
        for misfit in least {
            let place = misfit.text.and_then(|text| self.place_of(&text, entry));
            self.report(place.unwrap_or(entry), misfit.message, Some(misfit.help));
        }
    }

    /// An argument in a template that the tool has not.
    fn argument(&mut self, tool: &str, used: &str, entry: Span, served: &[(&Shape, &TypeTable)]) {
        let has = |(shape, _): &(&Shape, &TypeTable)| shape.params.iter().any(|(p, _)| p == used);
        let said = |flow: &Served| flow.damaged || flow.unknown.contains(used);
        if served.iter().any(has) || self.flows.iter().any(said) {
            return;
        }
        let params = served.iter().flat_map(|(shape, _)| &shape.params);
        let params: BTreeSet<&str> = params.map(|(name, _)| name.as_str()).collect();
        let help = match name::closest(used, params.iter().copied()) {
            Some(near) => format!("did you mean `args.{near}`?"),
            None => format!("its parameters: {}", name::list(params)),
        };
        let message = format!("tool `{tool}` has no parameter `{used}`");
        let place = self.place_of(&format!("args.{used}"), entry);
        self.report(place.unwrap_or(entry), message, Some(help));
    }

    /// Where a text first stands behind the beginning of an entry.
    fn place_of(&self, text: &str, entry: Span) -> Option<Span> {
        let whole = &self.sources.file(entry.file)?.text;
        let from = entry.start as usize;
        let at = from + whole.get(from..)?.find(text)?;
        Some(Span::new(entry.file, at, at + text.len()))
    }

    /// A fixed reply: arguments that the tool has not, values that no argument is, a result of another type.
    fn reply(&mut self, tool: &str, reply: &ToolReply, served: &[(&Shape, &TypeTable)]) {
        let under = |key: &str| -> Path {
            let key = Step::Key(key.to_owned());
            reply.at.iter().cloned().chain([key]).collect()
        };
        let matched = reply.matches.as_ref().and_then(|json| json.as_object());
        for (name, json) in matched.into_iter().flatten() {
            let mut at = under("match");
            at.push(Step::Key(name.clone()));
            let types = served.iter().filter_map(|(shape, types)| {
                let (_, ty) = shape.params.iter().find(|(param, _)| param == name)?;
                Some((ty, *types))
            });
            let wrong: Vec<Option<String>> = types
                .map(|(ty, types)| {
                    let wrong = accept_parts(json, ty, types).err()?;
                    Some(wrong.first()?.message.clone())
                })
                .collect();
            if wrong.is_empty() {
                let message = format!("tool `{tool}` has no parameter `{name}`: this never fits");
                let params = served.iter().flat_map(|(shape, _)| &shape.params);
                let help = name::did_you_mean(name, params.map(|(name, _)| name.as_str()));
                self.report(self.document.key_span(&at), message, help);
            } else if let Some(Some(why)) = wrong.first()
                && wrong.iter().all(Option::is_some)
            {
                let message = format!("`{name}` of tool `{tool}`: {why}, so this never fits");
                self.report(self.document.span(&at), message, None);
            }
        }
        let Ok(result) = &reply.outcome else { return };
        let wrong = |(shape, types): &(&Shape, &TypeTable)| {
            let ty = shape.returns.as_ref().filter(|_| !shape.mended)?;
            let wrong = accept(result, ty, types).err()?;
            Some(wrong.first()?.to_string())
        };
        let all: Option<Vec<String>> = served.iter().map(wrong).collect();
        if let Some(why) = all.as_ref().and_then(|all| all.first()) {
            let why = why.trim_start_matches("$: ").trim_start_matches("$.");
            let message = format!("the result of tool `{tool}`: {why}");
            self.report(self.document.span(&under("result")), message, None);
        }
    }

    fn model(&mut self, name: &str, entry: &Entry<ModelBinding>, part: &Config) {
        let Some(span) = entry.span else { return };
        let flows = self.flows;
        if name != "*" && !flows.iter().any(|flow| flow.models.contains(name)) {
            let models = flows.iter().flat_map(|flow| &flow.models);
            let bound = |name: &&String| {
                let mut parts = self.config.parts.iter();
                parts.any(|part| part.models.contains_key(*name))
            };
            let lacking = models.filter(|name| !bound(name));
            let lacking = lacking.map(String::as_str).collect();
            return self.unknown("model", name, span, lacking);
        }
        let ModelBinding::Other { provider, .. } = &entry.value else {
            return;
        };
        let known = [Some(self.config), Some(part), self.config.parts.first()];
        let known: BTreeSet<&str> = known
            .into_iter()
            .flatten()
            .flat_map(|config| config.providers.keys())
            .map(String::as_str)
            .collect();
        if !known.contains(provider.as_str()) {
            let help = name::did_you_mean(provider, known.iter().copied());
            let help = help.unwrap_or_else(|| {
                format!(
                    "describe it under `providers`; there is {}",
                    name::list(known)
                )
            });
            let message =
                format!("nothing says how to reach the provider `{provider}` of model `{name}`");
            let place = self.place_of(&format!("{provider}/"), span);
            self.report(place.unwrap_or(span), message, Some(help));
        }
    }
}
