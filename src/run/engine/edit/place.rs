//! Where an edit is: the graph under way, and the node that the edit stands for.

use std::sync::Arc;

use crate::base::name::{closest, list};
use crate::ir::{Graph, GraphId, NodeId};
use crate::run::frame::Frame;
use crate::run::schedule;
use crate::run::store::{FrameImage, Source, Store, ThreadImage};
use crate::value::Value;

use super::super::names::Names;
use super::super::{Engine, StartError};

/// Checkpoints that are looked at at a time.
const PAGE: usize = 64;

/// The word for a graph's entry in place of a node's name; no node has it.
const START: &str = "start";

/// A graph under way.
pub(super) struct Place<'i> {
    /// Its frame as the thread has it.
    pub image: &'i FrameImage,
    /// The graph.
    pub graph: GraphId,
    /// Its frame, not restored yet.
    pub frame: Frame,
    /// Its path for people.
    pub path: String,
    flow_graph: &'i Graph,
}

/// What an edit stands for.
pub(super) enum As {
    /// A visit of a node, and its name.
    Node(NodeId, String),
    /// The entry of the graph.
    Start,
}

impl As {
    /// Its name for people.
    pub fn name(&self) -> &str {
        match self {
            As::Node(_, name) => name,
            As::Start => START,
        }
    }
}

/// The path of a frame by its key: `content/slide[0]` for `0:content/3:slide[0]/`, empty for the run's own graph.
pub fn path(key: &str) -> String {
    let parts = key.split('/').filter(|part| !part.is_empty());
    let names = parts.map(|part| part.split_once(':').map_or(part, |(_, name)| name));
    names.collect::<Vec<_>>().join("/")
}

/// A path without the indices of sends.
fn plain(path: &str) -> String {
    let parts = path.split('/');
    let names = parts.map(|part| part.split('[').next().unwrap_or(part));
    names.collect::<Vec<_>>().join("/")
}

impl Engine {
    /// The graph under way at a path.
    pub(super) fn place<'i>(
        &'i self,
        root: GraphId,
        image: &'i ThreadImage,
        wanted: &str,
    ) -> Result<Place<'i>, StartError> {
        let found = find(image, wanted)?;
        let names = Names {
            engine: self,
            root,
            renames: false,
        };
        let mut context = self.context_kept(&self.plan.flow.graphs[root], image)?;
        let mut frame = self.frame(root, "", &context);
        for (at, _) in found.frame.match_indices('/') {
            let key = found.frame.get(..=at).unwrap_or_default();
            let graph = names.graph_of(key).unwrap_or(root);
            context = frame.context;
            frame = self.frame(graph, key, &context);
        }
        let graph = frame.graph;
        Ok(Place {
            image: found,
            graph,
            path: path(&found.frame),
            frame,
            flow_graph: &self.plan.flow.graphs[graph],
        })
    }

    fn frame(&self, graph: GraphId, key: &str, context: &Value) -> Frame {
        let plan = &self.plan.graphs[graph];
        Frame::new(graph, plan, key.into(), plain(&path(key)), context)
    }
}

fn find<'i>(image: &'i ThreadImage, wanted: &str) -> Result<&'i FrameImage, StartError> {
    let wanted = wanted.trim_matches('/');
    let is = |frame: &&FrameImage| {
        let key = frame.frame.trim_matches('/');
        key == wanted || path(key) == wanted
    };
    let mut frames = image.frames.iter();
    if let Some(found) = frames.find(is) {
        return Ok(found);
    }
    let several = |frame: &&FrameImage| plain(&path(&frame.frame)) == plain(wanted);
    let alike: Vec<&FrameImage> = image.frames.iter().filter(several).collect();
    let shown = |frames: &[&FrameImage]| {
        let paths: Vec<String> = frames.iter().map(|frame| path(&frame.frame)).collect();
        list(paths.iter().map(String::as_str))
    };
    if let ([only], false) = (alike.as_slice(), wanted.contains('[')) {
        return Ok(only);
    }
    let nested: Vec<&FrameImage> = image.frames.iter().skip(1).collect();
    Err(StartError::refused(
        match (alike.is_empty(), nested.is_empty()) {
            (false, _) => format!(
                "several calls are under way at `{wanted}`; name one of {}",
                shown(&alike)
            ),
            (true, false) => format!(
                "no call is under way at `{wanted}`; those that are: {}",
                shown(&nested)
            ),
            (true, true) => {
                format!(
                    "no call is under way at `{wanted}`: only the run's own graph can be edited"
                )
            }
        },
    ))
}

impl Place<'_> {
    /// The node of that name.
    pub fn named(&self, name: &str) -> Result<As, StartError> {
        if name == START {
            return Ok(As::Start);
        }
        if let Some(node) = self.flow_graph.node(name) {
            return Ok(As::Node(node, name.to_owned()));
        }
        let names = || self.flow_graph.nodes.iter().map(|node| node.name.as_str());
        let hint = match closest(name, names()) {
            Some(near) => format!("; did you mean `{near}`?"),
            None => format!("; it has {}", list(names())),
        };
        let graph = &self.flow_graph.name;
        let message = format!("graph `{graph}` has no node `{name}`{hint}");
        Err(StartError::refused(message))
    }

    /// The only node that has run last, the one that the edit before stood for, or the entry behind an input.
    pub async fn ran_last(&self, store: &Arc<dyn Store>, thread: &str) -> Result<As, StartError> {
        let mut before = self.image.seq.saturating_add(1);
        loop {
            let page = store.history(thread, Some(before), PAGE).await?;
            let Some(last) = page.last() else {
                let message =
                    "what ran last isn't known any more; name the node that the edit stands for";
                return Err(StartError::refused(message));
            };
            before = last.seq;
            for info in page.iter().filter(|info| info.frame == self.image.frame) {
                // One of the same step has only put the thread in other words.
                match (info.source, info.step < self.image.step) {
                    (_, true) => return self.only(&schedule::next_names(&info.schedule)),
                    (Source::Input, _) => return Ok(As::Start),
                    (Source::Update, _) => {
                        let name = schedule::edited_as(&info.schedule).unwrap_or(START);
                        return self.named(name);
                    }
                    (Source::Step, _) => {}
                }
            }
        }
    }

    fn only(&self, names: &[&str]) -> Result<As, StartError> {
        match names {
            [only] => self.named(only),
            several => Err(StartError::refused(format!(
                "several nodes ran last; name the one that the edit stands for: {}",
                list(several.iter().copied())
            ))),
        }
    }
}
