//! The SDK's client over HTTP. It notes an event that is too long: the SDK ends the connection then, and does not say why.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::StreamExt;
use reqwest::Client;
use reqwest::header::{HeaderName, HeaderValue};
use rmcp::model::ClientJsonRpcMessage;
use rmcp::transport::common::client_side_sse::BoxedSseResponse;
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
    StreamableHttpResponseLimits,
};

/// What an error of the SDK says of an event that is too long; its type is private.
const TOO_LONG: &str = "exceeded the maximum size";

/// A client that notes whether an event was too long.
#[derive(Clone)]
pub struct Watching {
    inner: Client,
    too_long: Arc<AtomicBool>,
}

type Headers = HashMap<HeaderName, HeaderValue>;
type Failed = StreamableHttpError<reqwest::Error>;

impl Watching {
    /// A client around another. The flag is set once an event was too long.
    pub fn new(inner: Client, too_long: Arc<AtomicBool>) -> Self {
        Self { inner, too_long }
    }

    fn watched(&self, stream: BoxedSseResponse) -> BoxedSseResponse {
        let too_long = Arc::clone(&self.too_long);
        let watched = stream.inspect(move |event| {
            if let Err(SseError::Body(error)) = event
                && error.to_string().contains(TOO_LONG)
            {
                too_long.store(true, Ordering::Relaxed);
            }
        });
        watched.boxed()
    }
}

impl StreamableHttpClient for Watching {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        auth: Option<String>,
        headers: Headers,
    ) -> Result<StreamableHttpPostResponse, Failed> {
        let limits = StreamableHttpResponseLimits::default();
        self.post_message_with_response_limits(uri, message, session, auth, headers, limits)
            .await
    }

    async fn post_message_with_response_limits(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        auth: Option<String>,
        headers: Headers,
        limits: StreamableHttpResponseLimits,
    ) -> Result<StreamableHttpPostResponse, Failed> {
        let answer = self
            .inner
            .post_message_with_response_limits(uri, message, session, auth, headers, limits)
            .await?;
        match answer {
            StreamableHttpPostResponse::Sse(stream, session) => Ok(
                StreamableHttpPostResponse::Sse(self.watched(stream), session),
            ),
            other => Ok(other),
        }
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        auth: Option<String>,
        headers: Headers,
    ) -> Result<(), Failed> {
        self.inner.delete_session(uri, session, auth, headers).await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last: Option<String>,
        auth: Option<String>,
        headers: Headers,
    ) -> Result<BoxedSseResponse, Failed> {
        let most = StreamableHttpResponseLimits::default().max_sse_event_size;
        self.get_stream_with_max_sse_event_size(uri, session, last, auth, headers, most)
            .await
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last: Option<String>,
        auth: Option<String>,
        headers: Headers,
        most: usize,
    ) -> Result<BoxedSseResponse, Failed> {
        let stream = self
            .inner
            .get_stream_with_max_sse_event_size(uri, session, last, auth, headers, most)
            .await?;
        Ok(self.watched(stream))
    }
}
