//! A server that others than the store ask too: `sql` tools. The address, the encryption and the words are the store's.

use std::path::Path;

use tokio::time::timeout;
use tokio_postgres::error::SqlState;
use tokio_postgres::{CancelToken, Client, Error, NoTls};

use super::address::Address;
use super::error::{innermost, is_lost};
use super::session::{open, quoted};
use super::tls::Tls;
use crate::run::store::StoreError;

/// Where a database is.
pub struct Server(Address);

/// Why there is no connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreachable {
    /// In words, without secrets.
    pub message: String,
    /// Whether the server refused the user or the password.
    pub refused: bool,
}

/// A connection to a server.
pub struct Connection {
    /// The connection itself.
    pub client: Client,
    tls: Option<Tls>,
}

/// Ends what a connection is doing.
pub struct Cancel {
    token: CancelToken,
    tls: Option<Tls>,
}

impl Server {
    /// Reads an address; a certificate is named from `base`.
    ///
    /// # Errors
    /// Where it isn't one.
    pub fn parse(url: &str, base: &Path) -> Result<Server, StoreError> {
        Address::parse(url, base).map(Server)
    }

    /// The address for people: no user, no password.
    pub fn shown(&self) -> &str {
        &self.0.shown
    }

    /// Makes a connection, whose names are looked up in the schema of the address where it names one.
    ///
    /// # Errors
    /// Where none can be made in time.
    pub async fn connect(&self) -> Result<Connection, Unreachable> {
        let limit = self.0.connect_timeout;
        let connecting = async {
            let client = open(&self.0).await?;
            if self.0.names_schema {
                let schema = quoted(&self.0.schema);
                let set = format!("SET search_path = {schema}");
                client.batch_execute(&set).await?;
            }
            Ok(client)
        };
        let shown = self.shown();
        match timeout(limit, connecting).await {
            Ok(Ok(client)) => Ok(Connection {
                client,
                tls: self.0.tls.clone(),
            }),
            Ok(Err(error)) => Err(unreachable(shown, &error)),
            Err(_) => Err(Unreachable {
                message: format!(
                    "no connection to `{shown}` could be made within {} s (`?connect_timeout=SECONDS` gives it more time)",
                    limit.as_secs()
                ),
                refused: false,
            }),
        }
    }
}

impl Connection {
    /// What ends its work from elsewhere.
    pub fn cancel(&self) -> Cancel {
        Cancel {
            token: self.client.cancel_token(),
            tls: self.tls.clone(),
        }
    }
}

impl Cancel {
    /// Asks the server to end it, as far as the server can be reached.
    pub async fn send(self) {
        let sent = async {
            match self.tls {
                Some(tls) => self.token.cancel_query(tls).await,
                None => self.token.cancel_query(NoTls).await,
            }
        };
        // What isn't ended so ends by its `statement_timeout`.
        let _ = timeout(std::time::Duration::from_secs(5), sent).await;
    }
}

fn unreachable(shown: &str, error: &Error) -> Unreachable {
    let said = innermost(error);
    let codes = [
        SqlState::INVALID_PASSWORD,
        SqlState::INVALID_AUTHORIZATION_SPECIFICATION,
    ];
    let refused = error.code().is_some_and(|code| codes.contains(code));
    let message = match error.code() {
        Some(_) if !is_lost(error) => format!("`{shown}` refuses the connection: {said}"),
        _ => format!("no connection to `{shown}` can be made: {said}"),
    };
    Unreachable { message, refused }
}

/// The server's own words, with what it adds to them.
pub fn words(error: &Error) -> String {
    match error.as_db_error().and_then(|error| error.detail()) {
        Some(detail) => format!("{} ({detail})", innermost(error)),
        None => innermost(error),
    }
}

/// Whether the connection is gone, as opposed to a statement that failed.
pub fn lost(error: &Error) -> bool {
    is_lost(error)
}
