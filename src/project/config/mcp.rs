//! `mcp_servers`, and `mcp` in an entry of `tools`.

use crate::base::secret::Secret;
use crate::project::spec::address::web_address;
use crate::project::spec::mcp::{
    DEFAULT_LIMIT, DEFAULT_START, McpSpec, ServerSpec, ServerTransport,
};
use crate::project::yaml::Cursor;

use crate::base::name;
use crate::diag::{Diagnostic, codes};

use super::provider::read_headers;
use super::variables::{Form, Variables};
use super::{Config, ToolSpec, host, tool};

/// Headers that belong to the protocol.
const PROTOCOL: [&str; 4] = [
    "accept",
    "mcp-session-id",
    "mcp-protocol-version",
    "last-event-id",
];

/// Reads a server.
pub fn server(cursor: &Cursor<'_>, variables: &Variables<'_>) -> Option<ServerSpec> {
    let open = cursor.open_table()?;
    let (command, url) = (open.get("command"), open.get("url"));
    let keys: &[&str] = match (&command, &url) {
        (Some(_), None) => &["command", "env", "start_timeout"],
        (None, Some(_)) => &["url", "headers", "start_timeout"],
        _ => {
            let message = format!(
                "`{}` must have exactly one of `command` and `url`",
                cursor.key()
            );
            cursor.report(cursor.key_finding(message));
            return None;
        }
    };
    let table = cursor.table("an MCP server", keys)?;
    let transport = match &url {
        None => {
            let mut spec = tool::program(&table, variables)?;
            spec.limit = DEFAULT_LIMIT;
            ServerTransport::Command(spec)
        }
        Some(url) => {
            host::note_private(url);
            let address = variables.text(url, Form::Plain)?;
            if variables.all_set() && web_address(&address).is_none() {
                let message = "`url` must be an address such as `https://tools.example/mcp`";
                url.report(url.finding(message));
                return None;
            }
            let headers = table.get("headers");
            let headers = headers.map(|headers| {
                for (name, header) in headers.entries() {
                    if PROTOCOL.iter().any(|own| name.eq_ignore_ascii_case(own)) {
                        let message = format!("`{name}` is the protocol's own header");
                        header.report(header.key_finding(message));
                    }
                }
                read_headers(&headers, variables)
            });
            let headers = headers.unwrap_or_default().into_iter();
            ServerTransport::Http(
                address,
                headers
                    .map(|(name, value)| (name, Secret::new(value)))
                    .collect(),
            )
        }
    };
    let mut secrets = variables.secrets();
    if let ServerTransport::Command(spec) = &transport {
        secrets.add_all(&spec.secrets);
    }
    let start = table.get("start_timeout").and_then(|time| time.timeout());
    Some(ServerSpec {
        name: cursor.key().to_owned(),
        transport,
        start_timeout: start.unwrap_or(DEFAULT_START),
        secrets,
    })
}

/// Reads a tool of a server.
pub fn tool(cursor: &Cursor<'_>) -> Option<McpSpec> {
    let outer = cursor.table("an `mcp` tool", &["mcp", "timeout", "max_output"])?;
    let table = outer.get("mcp")?.table("`mcp`", &["server", "tool"])?;
    let server = table.require("server")?;
    Some(McpSpec {
        server: server.text()?.to_owned(),
        server_at: server.span(),
        tool: match table.get("tool") {
            Some(tool) => Some(tool.text()?.to_owned()),
            None => None,
        },
        timeout: outer.get("timeout").and_then(|timeout| timeout.timeout()),
        limit: tool::most_bytes(&outer, DEFAULT_LIMIT),
    })
}

/// Tools of servers that neither the file nor any of its profiles describes. A server that only one profile has is missed by a run without
/// it.
pub(super) fn unknown_servers(config: &Config, root: &Cursor<'_>) -> Vec<Diagnostic> {
    // By their names: what is wrong with one itself is reported there.
    let profiles = root.json().get("profiles").and_then(|all| all.as_object());
    let parts = profiles.into_iter().flat_map(|all| all.values());
    let written = parts.chain([root.json()]).filter_map(|part| {
        let servers = part.get("mcp_servers")?.as_object()?;
        Some(servers.keys().map(String::as_str))
    });
    let known: Vec<&str> = written.flatten().collect();
    let tools = config.parts.iter().flat_map(|part| part.tools.values());
    let unknown = tools.filter_map(|entry| match &entry.value {
        ToolSpec::Mcp(spec) if !known.contains(&&*spec.server) => Some(spec),
        _ => None,
    });
    unknown
        .map(|spec| unknown_server(spec, known.iter().copied()))
        .collect()
}

/// That nothing says how to reach the server of a tool.
pub fn unknown_server<'n>(
    spec: &McpSpec,
    known: impl Iterator<Item = &'n str> + Clone,
) -> Diagnostic {
    let server = spec.server.as_str();
    let help = name::did_you_mean(server, known.clone()).unwrap_or_else(|| {
        format!(
            "describe it: `mcp_servers: {{ {server}: {{ command: [..] }} }}`, or `{{ url: .. }}`{}",
            match known.clone().next() {
                Some(_) => format!("; there is {}", name::list(known)),
                None => String::new(),
            }
        )
    });
    let message = format!("nothing says how to reach the MCP server `{server}`");
    Diagnostic::new(&codes::INVALID_CONFIG, message, spec.server_at).help(help)
}
