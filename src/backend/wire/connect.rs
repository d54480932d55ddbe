//! A connection by itself: the name is looked up, a proxy used, the certificate checked as for a request, and nothing is sent.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use reqwest::Url;
use tower_layer::Layer;
use tower_service::Service;

use super::{Bounds, Failure, Peer, Wire, made};

type BoxError = Box<dyn Error + Send + Sync>;

impl Wire {
    /// Connects to the server of an address, and closes the connection.
    ///
    /// # Errors
    /// Why there is none, by kind.
    pub async fn connect(&self, url: &Url, peer: Peer<'_>, bounds: &Bounds) -> Result<(), Failure> {
        let client = made(&self.connecting, |client| {
            client.connector_layer(ConnectOnly)
        })?;
        match bounds.receive(client.get(url.clone()).send()).await? {
            Ok(_) => Ok(()),
            Err(error) if is_connected(&error) => Ok(()),
            Err(error) => Err(Failure::transport(peer, error)),
        }
    }
}

fn is_connected(error: &reqwest::Error) -> bool {
    let mut cause = error.source();
    while let Some(error) = cause {
        if error.is::<Connected>() {
            return true;
        }
        cause = error.source();
    }
    false
}

/// Stands for a connection that was made, and ends the request before it is sent.
#[derive(Debug)]
struct Connected;

impl fmt::Display for Connected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("connected")
    }
}

impl Error for Connected {}

#[derive(Clone)]
struct ConnectOnly;

impl<S> Layer<S> for ConnectOnly {
    type Service = Connecting<S>;

    fn layer(&self, inner: S) -> Connecting<S> {
        Connecting(inner)
    }
}

#[derive(Clone)]
struct Connecting<S>(S);

impl<S, R> Service<R> for Connecting<S>
where
    S: Service<R, Error = BoxError>,
    S::Future: Send + 'static,
    S::Response: Send,
{
    type Response = S::Response;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<S::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, request: R) -> Self::Future {
        let connecting = self.0.call(request);
        Box::pin(async move {
            connecting.await?;
            Err(Connected.into())
        })
    }
}
