-- Long-term memory. `space` is a namespace: each of its parts with a zero byte behind it. Times are milliseconds since 1970.
-- What is searched lies close together, apart from values and vectors.
CREATE TABLE memory_items (
    space    BLOB NOT NULL,
    key      TEXT NOT NULL,
    id       INTEGER NOT NULL,
    created  INTEGER NOT NULL,
    updated  INTEGER NOT NULL,
    -- How long it is kept when it is put or read anew, and when that is over.
    ttl      INTEGER,
    until    INTEGER,
    PRIMARY KEY (space, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX memory_ends ON memory_items (until) WHERE until IS NOT NULL;

-- By the `id` of the item.
CREATE TABLE memory_values (
    id    INTEGER PRIMARY KEY,
    value TEXT NOT NULL
) STRICT;

-- Numbers of 32 bits, the lowest byte first; only those of the same embedder and length are compared.
CREATE TABLE memory_vectors (
    item     INTEGER NOT NULL,
    part     INTEGER NOT NULL,
    embedder TEXT NOT NULL,
    vector   BLOB NOT NULL
) STRICT;

CREATE UNIQUE INDEX item_vectors ON memory_vectors (item, part);

-- Writes that were made, so that none is made twice.
CREATE TABLE memory_writes (
    key    BLOB PRIMARY KEY,
    at     INTEGER NOT NULL,
    result INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX memory_writes_at ON memory_writes (at);
