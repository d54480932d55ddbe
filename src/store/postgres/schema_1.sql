-- Columns of the type uuid are keys: 16 bytes of a hash of what they are the key of. What has one may be longer
-- than a row of an index. Texts that are compared or sorted are not sorted by a language.

-- Fencing tokens: never given twice, and each is greater than all before it.
CREATE SEQUENCE tokens;

-- The writer of each thread that has one, or had one which died.
CREATE TABLE leases (
    key       uuid PRIMARY KEY,
    thread_id text NOT NULL,
    token     bigint NOT NULL,
    holder    text NOT NULL
);

CREATE SEQUENCE thread_numbers;

-- In which order statuses were written.
CREATE SEQUENCE uses;

CREATE TABLE threads (
    id         bigint PRIMARY KEY,
    key        uuid NOT NULL UNIQUE,
    thread_id  text NOT NULL,
    created_at text NOT NULL,
    used       bigint NOT NULL,
    status     text NOT NULL
);

CREATE TABLE checkpoints (
    thread    bigint NOT NULL,
    seq       bigint NOT NULL,
    step      bigint NOT NULL,
    root_step bigint NOT NULL,
    -- The root's latest checkpoint up to here, this one included.
    root_seq  bigint,
    -- Null for the root.
    frame_key uuid,
    frame     text NOT NULL,
    source    text NOT NULL,
    run_id    text NOT NULL,
    at        text NOT NULL,
    -- Names of the fields written, a JSON list.
    fields    text NOT NULL,
    schedule  text NOT NULL,
    PRIMARY KEY (thread, seq)
);

CREATE INDEX nested_checkpoints ON checkpoints (thread, root_step, frame_key, seq)
    WHERE frame_key IS NOT NULL;

CREATE SEQUENCE field_numbers;

-- The fields of each frame.
CREATE TABLE fields (
    id     bigint PRIMARY KEY,
    thread bigint NOT NULL,
    -- Key of the frame, also of the root.
    frame  uuid NOT NULL,
    key    uuid NOT NULL,
    name   text NOT NULL,
    UNIQUE (thread, frame, key)
);

-- One change of one field. `kind`: 0 cleared, 1 a value, 2 a list, 3 a map, 4 elements appended,
-- 5 entries merged. `part` orders the changes of one checkpoint.
CREATE TABLE writes (
    field bigint NOT NULL,
    seq   bigint NOT NULL,
    part  integer NOT NULL,
    kind  smallint NOT NULL,
    value text NOT NULL,
    PRIMARY KEY (field, seq, part)
);

-- Where reading a field begins.
CREATE INDEX whole_values ON writes (field, seq) WHERE kind <= 3;

-- `id` is the order in which they were appended, `behind` the thread's latest checkpoint at that time.
CREATE TABLE effects (
    id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    thread    bigint NOT NULL,
    root_step bigint NOT NULL,
    behind    bigint NOT NULL,
    key       uuid NOT NULL,
    task      text NOT NULL,
    effect    text NOT NULL,
    kind      text NOT NULL,
    subject   text NOT NULL,
    outcome   text NOT NULL,
    UNIQUE (thread, root_step, key)
);

-- How many effects a thread has had, so that nobody needs to count them.
CREATE TABLE effect_counts (
    thread  bigint NOT NULL,
    key     uuid NOT NULL,
    kind    text NOT NULL,
    subject text NOT NULL,
    count   bigint NOT NULL,
    PRIMARY KEY (thread, key)
) WITH (fillfactor = 70);

-- Results of nodes that say `cache`. `until` is when one holds no longer, in milliseconds since 1970.
CREATE TABLE kept (
    key    uuid PRIMARY KEY,
    result text NOT NULL,
    until  bigint
);

CREATE INDEX kept_until ON kept (until) WHERE until IS NOT NULL;
