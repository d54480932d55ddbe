//! What a server writes, with a bound on each line of it.
//!
//! The SDK passes over a message that is too long, and its call would wait for ever: here the connection ends instead, and the call is told
//! why.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, ReadBuf};

/// A reader that fails where a line is longer than it may be.
pub struct Lines<R> {
    inner: R,
    limit: usize,
    /// Bytes since the last line end.
    line: usize,
    too_long: Arc<AtomicBool>,
}

impl<R> Lines<R> {
    /// Bounds the lines of a reader. The flag is set once one was too long.
    pub fn new(inner: R, limit: usize, too_long: Arc<AtomicBool>) -> Self {
        Self {
            inner,
            limit,
            line: 0,
            too_long,
        }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Lines<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = into.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(cx, into))?;
        let new = into.filled().get(before..).unwrap_or_default();
        for piece in new.split_inclusive(|byte| *byte == b'\n') {
            self.line += piece.len();
            if self.line > self.limit {
                self.too_long.store(true, Ordering::Relaxed);
                return Poll::Ready(Err(io::Error::other("a line is too long")));
            }
            if piece.ends_with(b"\n") {
                self.line = 0;
            }
        }
        Poll::Ready(Ok(()))
    }
}
