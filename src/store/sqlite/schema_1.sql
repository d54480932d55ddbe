-- Highest fencing token given so far, over all threads: it outlives the threads themselves.
CREATE TABLE tokens (
    one  INTEGER PRIMARY KEY CHECK (one = 1),
    last INTEGER NOT NULL
) STRICT;
INSERT INTO tokens VALUES (1, 0);

-- The writer of each thread that has one, or had one which died.
CREATE TABLE leases (
    thread_id TEXT PRIMARY KEY,
    token     INTEGER NOT NULL,
    holder    TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE threads (
    id         INTEGER PRIMARY KEY,
    thread_id  TEXT NOT NULL UNIQUE,
    created_at TEXT NOT NULL,
    -- Microseconds since 1970 when the status was written last.
    used       INTEGER NOT NULL,
    status     TEXT NOT NULL
) STRICT;

CREATE TABLE checkpoints (
    thread    INTEGER NOT NULL,
    seq       INTEGER NOT NULL,
    frame     TEXT NOT NULL,
    step      INTEGER NOT NULL,
    root_step INTEGER NOT NULL,
    -- The root's latest checkpoint up to here, this one included.
    root_seq  INTEGER,
    source    TEXT NOT NULL,
    run_id    TEXT NOT NULL,
    at        TEXT NOT NULL,
    -- Names of the fields written, a JSON list.
    fields    TEXT NOT NULL,
    schedule  TEXT NOT NULL,
    PRIMARY KEY (thread, seq)
) STRICT, WITHOUT ROWID;

CREATE INDEX nested_checkpoints ON checkpoints (thread, root_step, frame, seq) WHERE frame <> '';

-- One change of one field. `kind`: 0 cleared, 1 a value, 2 a list, 3 a map, 4 elements appended,
-- 5 entries merged. `part` orders the changes of one checkpoint.
CREATE TABLE writes (
    id     INTEGER PRIMARY KEY,
    thread INTEGER NOT NULL,
    frame  TEXT NOT NULL,
    field  TEXT NOT NULL,
    seq    INTEGER NOT NULL,
    part   INTEGER NOT NULL,
    kind   INTEGER NOT NULL,
    value  TEXT NOT NULL
) STRICT;

CREATE UNIQUE INDEX field_writes ON writes (thread, frame, field, seq, part, kind);

-- `id` is the order in which they were appended.
CREATE TABLE effects (
    id        INTEGER PRIMARY KEY,
    thread    INTEGER NOT NULL,
    root_step INTEGER NOT NULL,
    task      TEXT NOT NULL,
    effect    TEXT NOT NULL,
    kind      TEXT NOT NULL,
    subject   TEXT NOT NULL,
    outcome   TEXT NOT NULL
) STRICT;

CREATE UNIQUE INDEX task_effects ON effects (thread, root_step, task, effect);

-- How many effects a thread has had, so that nobody needs to count them.
CREATE TABLE effect_counts (
    thread  INTEGER NOT NULL,
    kind    TEXT NOT NULL,
    subject TEXT NOT NULL,
    count   INTEGER NOT NULL,
    PRIMARY KEY (thread, kind, subject)
) STRICT, WITHOUT ROWID;
