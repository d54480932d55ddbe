//! The findings of several flows as one list.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::base::{FileId, SourceMap, Span};
use crate::diag::literal_secret::literal_secrets_of_scenarios;
use crate::diag::{Code, Diagnostic, Diagnostics, Level, codes};
use crate::ir::{Flow, Place};
use crate::lint::model::{Families, Family};
use crate::project::config::{Config, wrong_levels};
use crate::project::fit::fit;
use crate::project::lacking::lacking;
use crate::project::scenario;
use crate::project::tried::Row;

use super::super::flow::Analysed;
use super::super::running::online::{Needs, wrong_address};
use super::super::{Context, Failure, files, scenes, settings};
use super::effects;
use super::unfit::{self, Served};
use crate::project::Project;

/// What was found in all flows so far. A file that several of them import is one file here, and
/// what is wrong in it is said once.
#[derive(Default)]
pub struct Findings {
    /// Every file that was read.
    pub sources: SourceMap,
    /// All findings, in the order of the files.
    pub diagnostics: Diagnostics,
    /// How many flows were checked.
    pub flows: usize,
    files: BTreeMap<String, FileId>,
    /// By settings file; `None` for one that is wrong itself.
    settings: BTreeMap<PathBuf, Option<Config>>,
    /// By settings file, what the flows have that it serves.
    served: BTreeMap<PathBuf, Vec<Served>>,
    /// Files that nothing reads, by their places.
    passed_over: BTreeSet<PathBuf>,
    /// The flows looked at, by their places.
    looked_at: BTreeSet<PathBuf>,
    /// By flow, its files, its own first.
    parts: Vec<Vec<FileId>>,
    /// Whether flows are kept, for scenarios to be held against.
    played: bool,
    /// What they need of the outside, where that is to be tried.
    pub needs: Option<Needs>,
    /// What was tried.
    pub rows: Option<Vec<Row>>,
    /// Files that flows name and that are not there.
    pub absent: Vec<PathBuf>,
    /// By the place of its file, each with its settings file; `None` for one that has errors.
    compiled: BTreeMap<PathBuf, Option<(Flow, PathBuf)>>,
}

impl Findings {
    /// None yet. `played`: scenarios will be held against the flows. `needs`: gets what the flows need, where that is to be tried.
    pub fn new(played: bool, needs: Option<Needs>) -> Self {
        Self {
            played,
            needs,
            ..Self::default()
        }
    }

    /// Reads the settings of a project, where that has not been done yet.
    pub fn settings(&mut self, project: &Project, context: &Context) -> Result<(), Failure> {
        if project.settings.is_none() {
            self.unread(&project.home.join("graphc.yml"), &codes::INVALID_CONFIG);
        }
        let path = project.settings.clone().unwrap_or_default();
        if self.settings.contains_key(&path) {
            return Ok(());
        }
        let config = match settings::read(project, context, &mut self.sources)? {
            Ok(config) => {
                self.diagnostics.append(wrong_levels(&config));
                let doubts = settings::apply_levels(&config, config.doubts.clone());
                self.diagnostics.append(doubts);
                Some(config)
            }
            Err(found) => {
                self.diagnostics.append(found);
                None
            }
        };
        self.settings.insert(path, config);
        Ok(())
    }

    /// Checks settings by themselves: what they say of tools and models is held against no flow.
    pub fn settings_alone(&mut self, file: &Path, context: &Context) -> Result<(), Failure> {
        let folder = file
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        let project = Project::around(folder.unwrap_or(Path::new(".")), Some(file))?;
        self.flows += 1;
        self.settings(&project, context)
    }

    /// What is known of models: the table of this version, and what the project's settings add to it.
    pub fn families(&self, project: &Project) -> Families {
        let path = project.settings.clone().unwrap_or_default();
        let config = self.settings.get(&path).and_then(Option::as_ref);
        let own = config.into_iter().flat_map(|config| &config.model_families);
        Families::default().with(own.map(|(name, entry)| Family {
            name: name.clone(),
            context: entry.value.context,
            tools: entry.value.tools,
            schema: entry.value.schema,
            thinks: entry.value.thinks,
            temperature: entry.value.temperature,
            own: true,
        }))
    }

    /// Adds what was found in one flow; with a profile also what the flow would lack in it.
    pub fn add(
        &mut self,
        file: &Path,
        analysed: Analysed,
        project: &Project,
        context: &Context,
    ) -> Result<(), Failure> {
        let Analysed {
            analysis,
            sources,
            absent,
        } = analysed;
        self.absent.extend(absent);
        let ids: Vec<FileId> = sources
            .files()
            .map(|(_, file)| {
                let known = self.files.get(&*file.name).copied();
                known.unwrap_or_else(|| {
                    let id = self.sources.push(file.clone());
                    self.files.insert(file.name.to_string(), id);
                    id
                })
            })
            .collect();
        let path = project.settings.clone().unwrap_or_default();
        let wanted = self.played || self.needs.is_some() || context.profile.is_some();
        let flow = wanted.then(|| analysis.flow()).flatten();
        if let Some(Some(config)) = self.settings.get(&path)
            && unfit::speaks(config)
        {
            let served = Served::new(analysis.program(), &analysis.diagnostics);
            self.served.entry(path.clone()).or_default().push(served);
        }
        self.looked_at.insert(place(file));
        let unsaid = match (self.settings.get(&path), &context.profile) {
            (Some(Some(config)), Some(_)) => effects::not_said(analysis.program(), config),
            _ => Diagnostics::new(),
        };
        let mut found = analysis.diagnostics;
        found.append(unsaid);
        if let Some(Some(config)) = self.settings.get(&path) {
            // A provider that the settings describe is known.
            found.retain(|finding| {
                finding.code != &codes::UNKNOWN_PROVIDER
                    || !config.providers.contains_key(sources.text(finding.span()))
            });
            if let Some(flow) = &flow {
                let place = declared(&ids, &self.sources);
                let folder = &project.home;
                // What is missing is said by what is tried.
                if let Some(needs) = &mut self.needs {
                    needs.add(flow, config, folder, &place);
                } else if context.profile.is_some() {
                    let lacking = lacking(flow, config, folder, &place, &wrong_address);
                    self.diagnostics.append(lacking);
                }
            }
        }
        let mut carried = Diagnostics::new();
        for mut finding in found {
            finding
                .labels
                .iter_mut()
                .for_each(|l| carry(&mut l.span, &ids));
            finding
                .fix
                .iter_mut()
                .for_each(|e| carry(&mut e.span, &ids));
            carried.push(finding);
        }
        if let Some(Some(config)) = self.settings.get(&path) {
            carried = settings::apply_levels(config, carried);
        }
        self.diagnostics.append(carried);
        self.parts.push(ids);
        self.flows += 1;
        if self.played {
            let with_settings = flow.map(|flow| (flow, path));
            self.compiled.insert(place(file), with_settings);
        }
        Ok(())
    }

    /// Adds that a file whose name ends in `.yml` is none that anything reads, where there is one.
    pub fn unread(&mut self, file: &Path, code: &'static Code) {
        if !file.is_file() || !self.passed_over.insert(place(file)) {
            return;
        }
        let shown = relative_to_here(file);
        let text = files::read(file).map_or_else(|_| String::new(), |source| source.text);
        let id = self.sources.add(&shown, &text);
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let meant = format!("{}yaml", name.trim_end_matches("yml"));
        let message = format!("`{name}` is not read: such a file is called `{meant}`");
        let mut found = Diagnostic::new(code, message, Span::new(id, 0, 0));
        found.level = Level::Warning;
        self.diagnostics
            .push(found.help(format!("rename it to `{meant}`")));
    }

    /// Adds that a file can't be read, where it is there: what is wrong in the others is said all the same.
    pub fn unreadable(&mut self, file: &Path, failure: Failure) -> Result<(), Failure> {
        match files::unreadable(file, &failure, &mut self.sources) {
            Some(found) => self.diagnostics.push(found),
            None => return Err(failure),
        }
        Ok(())
    }

    /// Adds what is wrong in a file of scenarios, held against its flow where that was checked too and has
    /// no errors: of a flow with errors nothing is known that its scenarios could be held against.
    pub fn scenarios(&mut self, file: &Path) -> Result<(), Failure> {
        let source = match files::read(file) {
            Ok(source) => source,
            Err(failure) => return self.unreadable(file, failure),
        };
        let id = self.sources.add(&source.name, &source.text);
        let (suite, found) = scenario::load_all(&self.sources, id);
        self.diagnostics.append(found);
        for secret in literal_secrets_of_scenarios(id, &source.text) {
            self.diagnostics.push(secret);
        }
        let Some(suite) = suite else { return Ok(()) };
        let flow = scenes::flow_of(file, &suite);
        if let Some(found) = scenes::missing_flow(&suite, id, &flow) {
            self.diagnostics.append(found);
        } else if let Some(Some((flow, settings))) = self.compiled.get(&place(&flow)) {
            let config = self.settings.get(settings).and_then(Option::as_ref);
            self.diagnostics.append(fit(&suite, flow, config));
        }
        Ok(())
    }

    /// Paths of the settings that were read.
    pub fn settings_read(&self) -> impl Iterator<Item = &Path> {
        let read = self.settings.keys().map(PathBuf::as_path);
        read.filter(|path| !path.as_os_str().is_empty())
    }

    /// Adds what settings say that fits none of the flows.
    fn held_against_flows(&mut self) {
        for (path, flows) in std::mem::take(&mut self.served) {
            let Some(Some(config)) = self.settings.get(&path) else {
                continue;
            };
            let folder = path.parent().unwrap_or(Path::new("."));
            let others: OnceCell<Vec<String>> = OnceCell::new();
            let elsewhere = |name: &str| {
                let others = others.get_or_init(|| self.others(folder));
                let words = |text: &String| {
                    text.split(|c: char| !c.is_alphanumeric() && c != '_')
                        .any(|word| word == name)
                };
                others.iter().any(words)
            };
            let found = unfit::unfit(&flows, config, &self.sources, &elsewhere);
            self.diagnostics.append(found);
        }
    }

    /// Texts of the flows below a folder that were not looked at.
    fn others(&self, folder: &Path) -> Vec<String> {
        let all = files::every(folder, ".graph").unwrap_or_default();
        let others = all.into_iter().filter(|file| {
            let known = place(file);
            !self.looked_at.contains(&known)
        });
        others
            .filter_map(|file| Some(files::read(&file).ok()?.text))
            .collect()
    }

    /// Drops what was found twice, and what another flow shows to be wrong.
    pub fn finish(&mut self) {
        self.held_against_flows();
        let mut all = std::mem::take(&mut self.diagnostics);
        all.sort();
        for finding in all {
            if !(finding.code == &codes::UNUSED_ITEM && self.used_elsewhere(&finding)) {
                self.diagnostics.push(finding);
            }
        }
    }

    /// Whether a flow that imports the item's file has the item's name in another of its files.
    fn used_elsewhere(&self, finding: &Diagnostic) -> bool {
        let file = finding.span().file;
        let name = self.sources.text(finding.span());
        let importing = self.parts.iter().filter(|parts| {
            let own = parts.first() == Some(&file);
            !own && parts.contains(&file)
        });
        let mut others = importing.flatten().filter(|other| **other != file);
        others.any(|id| {
            let text = self.sources.file(*id).map_or("", |file| &file.text);
            text.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '.')
                .any(|word| word == name)
        })
    }
}

/// A path as messages show it, from the current folder where it lies in it.
fn relative_to_here(path: &Path) -> String {
    let here = crate::project::here().ok();
    let inside = here.and_then(|here| path.strip_prefix(here).ok().map(Path::to_owned));
    files::shown(inside.as_deref().unwrap_or(path))
}

/// A path without links, so that each file has one.
fn place(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// Where a flow's tools and models are declared, in the shared list.
fn declared(ids: &[FileId], sources: &SourceMap) -> impl Fn(&Place, &str) -> Option<Span> {
    move |at: &Place, name: &str| {
        let id = *ids.get(at.file as usize)?;
        let item = at.offset as usize;
        let start = item + sources.file(id)?.text.get(item..)?.find(name)?;
        Some(Span::new(id, start, start + name.len()))
    }
}

/// Moves a span from a flow's own files to the shared list.
fn carry(span: &mut Span, ids: &[FileId]) {
    if let Some(id) = ids.get(span.file.0 as usize) {
        span.file = *id;
    }
}
