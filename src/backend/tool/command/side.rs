//! What a program reports while it works: lines of JSON in the file that `GRAPHC_PROGRESS` names.
//!
//! A file rather than a pipe: a program that goes on when this process has been killed must neither wait for a reader nor be ended for the
//! want of one, and any language can add a line to a file. It is looked at a few times a second and gone when the call has ended.

use std::fs::{self, File, OpenOptions};
use std::future::Future;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::backend::secret::Secrets;
use crate::base::size::excerpt;
use crate::run::report::Reports;

/// Between two looks.
const LOOK: Duration = Duration::from_millis(50);
/// The longest line that is read.
const LONGEST: usize = 64 << 10;
/// The most that is read at one look.
const AT_ONCE: u64 = 1 << 20;

/// The file of one call.
pub struct SideFile {
    path: PathBuf,
    file: File,
    /// How much of it has been read.
    read: u64,
    /// The beginning of a line whose end was not there yet.
    begun: Vec<u8>,
    /// Whether that line is too long, and passed over.
    passes: bool,
}

impl Drop for SideFile {
    fn drop(&mut self) {
        // One that is gone already is as well.
        let _ = fs::remove_file(&self.path);
    }
}

impl SideFile {
    /// An empty one that nobody else has.
    ///
    /// # Errors
    /// Of the system.
    pub fn new() -> io::Result<Self> {
        let name = format!("graphc-progress-{}", uuid::Uuid::new_v4());
        let path = std::env::temp_dir().join(name);
        let mut options = OpenOptions::new();
        options.read(true).append(true).create_new(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt;
            options.mode(0o600);
        }
        Ok(Self {
            file: options.open(&path)?,
            path,
            read: 0,
            begun: Vec::new(),
            passes: false,
        })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Waits for a program, and passes on what it reports meanwhile.
    pub async fn during<T>(
        &mut self,
        (reports, secrets): (&Reports, &Secrets),
        program: impl Future<Output = T>,
    ) -> T {
        let mut program = std::pin::pin!(program);
        loop {
            let ended = tokio::select! {
                biased;
                ended = &mut program => Some(ended),
                () = tokio::time::sleep(LOOK) => None,
            };
            let more = self.look(reports, secrets).await;
            let Some(ended) = ended else { continue };
            let mut more = more;
            while more {
                more = self.look(reports, secrets).await;
            }
            // The last line may lack its end.
            let last = std::mem::take(&mut self.begun);
            self.line(&last, reports, secrets).await;
            return ended;
        }
    }

    /// Passes on the lines that have come; whether there may be more.
    async fn look(&mut self, reports: &Reports, secrets: &Secrets) -> bool {
        let Ok(bytes) = self.more() else { return false };
        let full = bytes.len() as u64 >= AT_ONCE;
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.begun.extend_from_slice(part);
            let ends = part.ends_with(b"\n");
            if self.begun.len() > LONGEST && !self.passes {
                self.passes = true;
                let why = format!("a line of more than {} KiB", LONGEST >> 10);
                reports.send(Err(why)).await;
            }
            if self.passes {
                self.begun.clear();
                self.passes = !ends;
            } else if ends {
                let line = std::mem::take(&mut self.begun);
                self.line(&line, reports, secrets).await;
            }
        }
        full
    }

    fn more(&mut self) -> io::Result<Vec<u8>> {
        let length = self.file.metadata()?.len();
        // Who writes it anew begins anew.
        if length < self.read {
            self.read = 0;
            self.begun.clear();
            self.passes = false;
        }
        self.file.seek(SeekFrom::Start(self.read))?;
        let mut bytes = Vec::new();
        (&self.file).take(AT_ONCE).read_to_end(&mut bytes)?;
        self.read += bytes.len() as u64;
        Ok(bytes)
    }

    async fn line(&self, line: &[u8], reports: &Reports, secrets: &Secrets) {
        let line = line.trim_ascii();
        if line.is_empty() {
            return;
        }
        let report = serde_json::from_slice(line).map_err(|_| {
            let line = secrets.scrub(&String::from_utf8_lossy(line));
            format!("a line that is no JSON; it begins: {}", excerpt(&line))
        });
        reports.send(report).await;
    }
}
