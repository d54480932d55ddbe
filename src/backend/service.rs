//! Programs that scenarios need beside them: started ahead of the scenarios of a file, ended behind them.
//!
//! Each is the leader of a process group, which is killed when [`Services`] is dropped, however that comes.

use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path as Folder;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use tokio::process::{Child, Command};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout, timeout_at};

use crate::backend::group::Group;
use crate::backend::secret::Secrets;
use crate::backend::tool::command::output::{LINGER, last_lines, tail};
use crate::backend::tool::command::program;
use crate::backend::wire::{self, Bounds, Failure, Peer, Wire};
use crate::project::scenario::Service;
use crate::project::spec::command::DEFAULT_ENV;
use crate::project::yaml::Path;

/// Between two questions whether it is ready.
const PAUSE: Duration = Duration::from_millis(50);
/// The longest that one such question waits for its answer.
const ANSWER: Duration = Duration::from_secs(2);

/// Services that run.
pub struct Services {
    running: Vec<Running>,
    variables: Vec<(String, String)>,
}

struct Running {
    name: String,
    at: Path,
    port: u16,
    child: Child,
    group: Group,
    /// The end of its stderr, once that is over.
    said: JoinHandle<Vec<u8>>,
}

/// A service that is not there as it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Where it is written.
    pub at: Path,
    /// What is wrong.
    pub message: String,
    /// The end of its stderr.
    pub said: String,
}

impl Services {
    /// Starts services in the order written, each once the one before is ready. They run in `folder`, the one of graphc.yaml, and see
    /// what a `command` tool sees, their variables and those of the services before them, and their port as `PORT`.
    ///
    /// # Errors
    /// Why one did not become ready; those before it have been ended.
    pub async fn start(services: &[Service], folder: &Folder) -> Result<Self, Fault> {
        let wire = Wire::new();
        let mut started = Self {
            running: Vec::new(),
            variables: Vec::new(),
        };
        let ports = ports(services.len());
        for (index, service) in services.iter().enumerate() {
            let fault = |message: String| Fault {
                at: service.at.clone(),
                message: format!("service `{}` {message}", service.name),
                said: String::new(),
            };
            let port = ports.as_ref().map(|ports| ports.get(index).copied());
            let port = port.map_err(|error| fault(format!("gets no port: {error}")))?;
            let port = port.unwrap_or_default();
            started.variables.extend(service.variables(port));
            let running = Running::start(service, port, folder, &started.variables);
            let mut running =
                running.map_err(|error| fault(format!("could not be started: {error}")))?;
            if let Err(why) = running.becomes_ready(service, &wire).await {
                return Err(running.fault(&why).await);
            }
            started.running.push(running);
        }
        Ok(started)
    }

    /// Variables that graphc.yaml has of them.
    pub fn variables(&self) -> &[(String, String)] {
        &self.variables
    }

    /// Ends them all. Gives those that had ended by themselves.
    pub async fn end(self) -> Vec<Fault> {
        let mut faults = Vec::new();
        for mut running in self.running {
            if let Ok(Some(status)) = running.child.try_wait() {
                let why = format!("ended before its scenarios did: {status}");
                faults.push(running.fault(&why).await);
            }
        }
        faults
    }
}

impl Running {
    fn start(
        service: &Service,
        port: u16,
        folder: &Folder,
        variables: &[(String, String)],
    ) -> io::Result<Self> {
        let mut words = service.command(port);
        let name = words.next().unwrap_or_default();
        let passed = DEFAULT_ENV
            .into_iter()
            .filter_map(|name| Some((name, std::env::var_os(name)?)));
        let mut command = Command::new(program(&name, folder));
        command
            .args(words)
            .current_dir(folder)
            .env_clear()
            .envs(passed)
            .envs(variables.iter().map(|(name, value)| (name, value)))
            .env("PORT", port.to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        let (mut child, group) = Group::start(&mut command)?;
        let stderr = child.stderr.take();
        let said = tokio::spawn(async move {
            let mut said = Vec::new();
            tail(stderr, &mut said).await;
            said
        });
        Ok(Self {
            name: service.name.clone(),
            at: service.at.clone(),
            port,
            child,
            group,
            said,
        })
    }

    /// Waits until its address answers.
    ///
    /// # Errors
    /// In words that follow its name, where it ends before or takes too long.
    async fn becomes_ready(&mut self, service: &Service, wire: &Arc<Wire>) -> Result<(), String> {
        let end = Instant::now() + service.within;
        let address = service.ready(self.port);
        let mut why = format!("{address} has not answered");
        loop {
            let asked = timeout_at(end, asked(wire, &service.name, &address));
            tokio::select! {
                biased;
                status = self.child.wait() => {
                    let status = status.map_or_else(|error| error.to_string(), |s| s.to_string());
                    return Err(format!("ended before it was ready: {status}"));
                }
                answer = asked => match answer {
                    Ok(Ok(())) => return Ok(()),
                    Ok(Err(failure)) => why = failure.message,
                    Err(_) => {}
                },
            }
            if Instant::now() + PAUSE >= end {
                let within = service.within;
                return Err(format!("was not ready within {within:?}: {why}"));
            }
            sleep(PAUSE).await;
        }
    }

    /// Ends it, with what it has said.
    async fn fault(self, why: &str) -> Fault {
        drop(self.group);
        // What it has started may have left its group, and keep the pipe.
        let said = timeout(LINGER, self.said).await;
        let said = said.ok().and_then(Result::ok).unwrap_or_default();
        Fault {
            at: self.at,
            message: format!("service `{}` {why}", self.name),
            said: last_lines(&said),
        }
    }
}

/// Asks an address once.
async fn asked(wire: &Arc<Wire>, name: &str, address: &str) -> Result<(), Failure> {
    let peer = Peer {
        name,
        secrets: &Secrets::default(),
    };
    let request = wire.client()?.get(address);
    let bounds = Bounds::of(ANSWER);
    wire::send(request, peer, &bounds).await.map(|_| ())
}

/// So many ports that nobody has, each another.
fn ports(count: usize) -> io::Result<Vec<u16>> {
    let listeners = (0..count).map(|_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)));
    let listeners = listeners.collect::<io::Result<Vec<_>>>()?;
    let addresses = listeners.iter().map(TcpListener::local_addr);
    addresses.map(|address| Ok(address?.port())).collect()
}
