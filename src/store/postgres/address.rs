//! The address of a database: `postgres://USER:PASSWORD@HOST:PORT/DATABASE?schema=NAME`.
//!
//! What is particular to this store (`schema`, `statement_timeout`, `reconnect_timeout`) and what concerns TLS is taken out of it; the rest
//! is read by the driver. Invariant: no text made here has a part of the address that may be secret.

use std::path::Path;
use std::time::Duration;

use percent_encoding::percent_decode_str;
use tokio_postgres::Config;
use tokio_postgres::config::Host;

use super::tls::{self, Mode, Tls};
use crate::base::name;
use crate::run::store::StoreError;

/// Where the tables are, unless the address says otherwise.
const SCHEMA: &str = "graphc";

/// How long a name may be; PostgreSQL would cut it off without a word.
const MAX_NAME: usize = 63;

/// Options that an address may have.
const OPTIONS: [&str; 21] = [
    "schema",
    "statement_timeout",
    "reconnect_timeout",
    "sslmode",
    "sslrootcert",
    "application_name",
    "channel_binding",
    "connect_timeout",
    "dbname",
    "host",
    "hostaddr",
    "keepalives",
    "keepalives_idle",
    "keepalives_interval",
    "keepalives_retries",
    "options",
    "password",
    "port",
    "target_session_attrs",
    "tcp_user_timeout",
    "user",
];

/// Where and how to connect.
pub(super) struct Address {
    /// What the driver needs.
    pub(super) config: Config,
    /// How the connection is encrypted; `None` for plain text.
    pub(super) tls: Option<Tls>,
    /// The schema that the tables are in.
    pub(super) schema: String,
    /// Whether the address itself names it.
    pub(super) names_schema: bool,
    /// How long to wait for a connection.
    pub(super) connect_timeout: Duration,
    /// How long one statement may take.
    pub(super) statement_timeout: Duration,
    /// How long a lost connection is made anew, and what failed with it is tried again.
    pub(super) reconnect_timeout: Duration,
    /// The address for people: no user, no password.
    pub(super) shown: String,
    /// Whether the address itself has a password.
    pub(super) secret: bool,
}

/// An option, with its value decoded.
type Pair = (String, String);

impl Address {
    /// Reads an address; a certificate is named from `base`.
    ///
    /// # Errors
    /// Where it isn't one.
    pub(super) fn parse(url: &str, base: &Path) -> Result<Address, StoreError> {
        let (whole, query) = url.split_once('?').unwrap_or((url, ""));
        let (own, drivers) = options(query)?;
        let value = |name: &str| {
            let mut values = own.iter().filter(|(key, _)| key == name);
            values.next_back().map(|(_, value)| value.as_str())
        };
        let seconds = |name, least, default| match value(name) {
            Some(text) => seconds(name, text, least),
            None => Ok(default),
        };
        let url = match drivers.is_empty() {
            true => whole.to_owned(),
            false => format!("{whole}?{drivers}"),
        };
        // With an `@` behind the `?`, the `?` may be one of the password.
        if !query.contains('@') {
            each_is_valid(&drivers)?;
        }
        // What the driver says of an address may quote any part of it.
        let mut config: Config = url.parse().map_err(|_| {
            refused(
                "isn't one that PostgreSQL understands: expected \
                 `postgres://USER:PASSWORD@HOST:PORT/DATABASE?schema=NAME`, with `@`, `/`, `?`, `#` \
                 and `%` in a password as `%40`, `%2F`, `%3F`, `%23` and `%25`",
            )
        })?;
        let secret = config.get_password().is_some();
        complete(&mut config);
        let schema = schema(value("schema").unwrap_or(SCHEMA))?;
        let mode = Mode::find(value("sslmode"))?;
        let root = value("sslrootcert").map(|path| base.join(path));
        let hosts = config.get_hosts();
        let tls = match !hosts.is_empty() && hosts.iter().all(is_socket) {
            // A socket of this machine is not encrypted, whatever is asked for.
            true => None,
            false => tls::prepare(mode, root.as_deref(), &mut config)?,
        };
        Ok(Address {
            shown: shown(&config, &schema),
            connect_timeout: *config.get_connect_timeout().unwrap_or(&CONNECT_TIMEOUT),
            statement_timeout: seconds("statement_timeout", 1, STATEMENT_TIMEOUT)?,
            reconnect_timeout: seconds("reconnect_timeout", 0, RECONNECT_TIMEOUT)?,
            config,
            tls,
            schema,
            names_schema: value("schema").is_some(),
            secret,
        })
    }
}

/// How long to wait for a connection, unless the address says otherwise (`connect_timeout`).
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// How long one statement may take, unless the address says otherwise (`statement_timeout`).
const STATEMENT_TIMEOUT: Duration = Duration::from_secs(60);

/// How long a lost connection is made anew, unless the address says otherwise (`reconnect_timeout`): a server that is
/// restarted or replaced by its standby is back by then.
const RECONNECT_TIMEOUT: Duration = Duration::from_secs(60);

/// Splits off the options that the driver doesn't know.
fn options(query: &str) -> Result<(Vec<Pair>, String), StoreError> {
    let mut own = Vec::new();
    let mut drivers: Vec<&str> = Vec::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        match OPTIONS.iter().position(|option| *option == key) {
            Some(..5) => {
                let value = percent_decode_str(value)
                    .decode_utf8()
                    .map_err(|_| refused(&format!("has no text for `{key}`")))?;
                own.push((key.to_owned(), value.into_owned()));
            }
            Some(_) => drivers.push(pair),
            None => {
                let hint = name::closest(key, OPTIONS)
                    .map(|near| format!("; did you mean `{near}`?"))
                    .unwrap_or_default();
                let known = name::list(OPTIONS);
                let which = match is_no_secret(query, key) {
                    true => format!("`{key}` behind its `?`, which"),
                    false => "an option behind its `?` that".to_owned(),
                };
                return Err(refused(&format!("has {which} isn't one of {known}{hint}")));
            }
        }
    }
    Ok((own, drivers.join("&")))
}

/// Whether a name behind the `?` is surely no part of a password: of one with a `?` in it, or of one that is an option and has
/// a `&` in it.
fn is_no_secret(query: &str, key: &str) -> bool {
    let is_word = key
        .bytes()
        .all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    is_word
        && query.contains(&format!("{key}="))
        && !query.contains(['@', '%'])
        && !query.contains("password=")
}

/// Names the option whose value the driver doesn't take.
fn each_is_valid(drivers: &str) -> Result<(), StoreError> {
    for pair in drivers.split('&').filter(|pair| !pair.is_empty()) {
        let alone = format!("postgres://?{pair}").parse::<Config>();
        if alone.is_err() {
            let key = pair.split('=').next().unwrap_or_default();
            return Err(refused(&format!(
                "has a value for `{key}` behind its `?` that PostgreSQL doesn't take"
            )));
        }
    }
    Ok(())
}

/// Adds what an address needn't say.
fn complete(config: &mut Config) {
    if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
        match Path::new("/var/run/postgresql").exists() {
            true => config.host("/var/run/postgresql"),
            false => config.host("localhost"),
        };
    }
    if config.get_password().is_none()
        && let Ok(password) = std::env::var("PGPASSWORD")
    {
        config.password(password);
    }
    if config.get_application_name().is_none() {
        config.application_name("graphc");
    }
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(CONNECT_TIMEOUT);
    }
    if config.get_tcp_user_timeout().is_none() {
        config.tcp_user_timeout(Duration::from_secs(30));
    }
}

fn is_socket(host: &Host) -> bool {
    !matches!(host, Host::Tcp(_))
}

fn schema(name: &str) -> Result<String, StoreError> {
    let reason = match name {
        "" => "has no name for `schema`".to_owned(),
        _ if name.len() > MAX_NAME => {
            format!("has a name for `schema` of more than {MAX_NAME} bytes")
        }
        _ if name.contains('\0') => "has U+0000 in the name for `schema`".to_owned(),
        _ if name.starts_with("pg_") || name == "information_schema" => {
            format!("names the schema `{name}`, which is PostgreSQL's own")
        }
        _ => return Ok(name.to_owned()),
    };
    Err(refused(&reason))
}

fn seconds(name: &str, text: &str, least: u64) -> Result<Duration, StoreError> {
    let seconds = text.parse().ok().filter(|n| (least..=86_400).contains(n));
    seconds.map(Duration::from_secs).ok_or_else(|| {
        refused(&format!(
            "has a `{name}` that isn't a number of seconds from {least} to 86400"
        ))
    })
}

/// Where the tables are, in the form of an address.
fn shown(config: &Config, schema: &str) -> String {
    let ports = config.get_ports();
    let mut hosts = Vec::new();
    let mut sockets = Vec::new();
    for (index, host) in config.get_hosts().iter().enumerate() {
        let port = ports.get(index).or(ports.first()).filter(|p| **p != 5432);
        match host {
            Host::Tcp(name) => {
                hosts.push(port.map_or(name.clone(), |port| format!("{name}:{port}")))
            }
            #[cfg(unix)]
            Host::Unix(folder) => {
                sockets.push(format!("host={}", folder.display()));
                sockets.extend(port.map(|port| format!("port={port}")));
            }
        }
    }
    if hosts.is_empty() {
        hosts.extend(config.get_hostaddrs().iter().map(ToString::to_string));
    }
    if schema != SCHEMA {
        sockets.push(format!("schema={schema}"));
    }
    let database = config.get_dbname().unwrap_or_default();
    let mark = if sockets.is_empty() { "" } else { "?" };
    format!(
        "postgres://{}/{database}{mark}{}",
        hosts.join(","),
        sockets.join("&")
    )
}

/// An address that can't be used; none of it is quoted.
pub(super) fn refused(reason: &str) -> StoreError {
    StoreError::Unavailable {
        message: format!("the address `postgres://..` {reason}"),
    }
}
