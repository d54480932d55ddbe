//! What SQL that a model wrote may do, and how much of the machine it may use.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::ffi::SQLITE_ATTACH;
use rusqlite::hooks::{AuthAction, Authorization};

use super::sqlite::STEPS;
use super::thread::Watch;

/// Most bytes of a value or a row.
pub const VALUE: i32 = 64 << 10;
/// Most steps of SQLite's machine, over all statements of a call.
const MOST_STEPS: u64 = 20_000_000;
/// How many looks at the steps lie between two looks at memory.
const LOOKS: u64 = 5;
/// Most memory that may be added to the process while a call runs. Pages are bounded by SQLite itself; what it sorts and keeps
/// between steps is not.
const MEMORY: i64 = 256 << 20;

/// Pragmas that look at the database, or at how its constraints are held.
const PRAGMAS: [&str; 16] = [
    "collation_list",
    "database_list",
    "defer_foreign_keys",
    "foreign_key_check",
    "foreign_key_list",
    "foreign_keys",
    "index_info",
    "index_list",
    "index_xinfo",
    "integrity_check",
    "quick_check",
    "recursive_triggers",
    "table_info",
    "table_list",
    "table_xinfo",
    "user_version",
];

/// What leads to another database; `VACUUM` does it by itself.
const ATTACH: &str = "ATTACH or VACUUM";

/// Functions that lead out of the database.
const FUNCTIONS: [&str; 2] = ["load_extension", "fts3_tokenizer"];

/// Watches one call.
pub struct Guard {
    watch: Arc<Watch>,
    looks: AtomicU64,
    /// Memory of the process when the call began; 0 where that isn't known.
    began: AtomicI64,
    broken: Mutex<Option<Broken>>,
}

/// Why a call was ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Broken {
    /// Nobody waits any more.
    Ended,
    /// It did something that is not allowed.
    Denied(String),
    /// It took too many steps.
    Steps,
    /// It took too much memory.
    Memory,
}

impl Broken {
    /// In words, of a statement.
    pub fn words(&self) -> String {
        match self {
            Broken::Ended => "it was ended".to_owned(),
            Broken::Denied(what) => format!("not authorized: `{what}` is not allowed here"),
            Broken::Steps => {
                let millions = MOST_STEPS / 1_000_000;
                format!("it takes more than {millions} million steps of SQLite's machine")
            }
            Broken::Memory => format!("it takes more than {} MiB of memory", MEMORY >> 20),
        }
    }
}

impl Guard {
    /// Begins to watch.
    pub fn new(watch: Arc<Watch>) -> Self {
        Self {
            watch,
            looks: AtomicU64::new(0),
            began: AtomicI64::new(resident().unwrap_or_default()),
            broken: Mutex::new(None),
        }
    }

    /// Why the call has to end, where it has.
    pub fn broken(&self) -> Option<Broken> {
        let broken = self.broken.lock().unwrap_or_else(PoisonError::into_inner);
        broken.clone()
    }

    fn breaks(&self, why: Broken) {
        let mut broken = self.broken.lock().unwrap_or_else(PoisonError::into_inner);
        broken.get_or_insert(why);
    }

    /// Some steps were made: whether the statement has to end.
    pub fn step(&self) -> bool {
        let looks = self.looks.fetch_add(1, Ordering::Relaxed) + 1;
        let began = self.began.load(Ordering::Relaxed);
        let grown = || resident().is_some_and(|now| began > 0 && now - began > MEMORY);
        let why = if self.watch.is_ended() {
            Broken::Ended
        } else if looks * u64::from(STEPS.unsigned_abs()) > MOST_STEPS {
            Broken::Steps
        } else if looks.is_multiple_of(LOOKS) && grown() {
            Broken::Memory
        } else {
            return false;
        };
        self.breaks(why);
        true
    }

    /// Whether a statement may do that.
    pub fn authorize(&self, action: &AuthAction<'_>) -> Authorization {
        let denied = match action {
            AuthAction::Attach { .. } => ATTACH.to_owned(),
            AuthAction::Detach { .. } => "DETACH".to_owned(),
            AuthAction::CreateVtable { .. } | AuthAction::DropVtable { .. } => {
                "CREATE VIRTUAL TABLE".to_owned()
            }
            AuthAction::Pragma { pragma_name, .. } if !is_one_of(pragma_name, &PRAGMAS) => {
                format!("PRAGMA {pragma_name}")
            }
            AuthAction::Function { function_name } if is_one_of(function_name, &FUNCTIONS) => {
                format!("{function_name}()")
            }
            // A name that is computed is none for the authorizer.
            AuthAction::Unknown { code, .. } if *code == SQLITE_ATTACH => ATTACH.to_owned(),
            AuthAction::Unknown { .. } => "this statement".to_owned(),
            _ => return Authorization::Allow,
        };
        self.breaks(Broken::Denied(denied));
        Authorization::Deny
    }
}

fn is_one_of(name: &str, names: &[&str]) -> bool {
    names.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// Bytes of memory that the process has, where the system says it.
fn resident() -> Option<i64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: i64 = line.trim().split(' ').next()?.parse().ok()?;
    Some(kibibytes << 10)
}
