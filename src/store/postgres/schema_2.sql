-- Long-term memory. `space` is a namespace: each of its parts with a zero byte behind it. Times are milliseconds since 1970.
-- What is searched lies close together, apart from values and vectors.
CREATE TABLE memory_items (
    id      bigint GENERATED ALWAYS AS IDENTITY,
    space   bytea NOT NULL,
    key     text COLLATE "C" NOT NULL,
    created bigint NOT NULL,
    updated bigint NOT NULL,
    -- How long it is kept when it is put or read anew, and when that is over.
    ttl     bigint,
    until   bigint,
    PRIMARY KEY (space, key)
);

CREATE INDEX memory_ends ON memory_items (until) WHERE until IS NOT NULL;

-- By the `id` of the item.
CREATE TABLE memory_values (
    id    bigint PRIMARY KEY,
    value text NOT NULL
);

-- Numbers of 32 bits, the lowest byte first; only those of the same embedder and length are compared.
CREATE TABLE memory_vectors (
    item     bigint NOT NULL,
    part     integer NOT NULL,
    embedder text NOT NULL,
    vector   bytea NOT NULL,
    PRIMARY KEY (item, part)
);

-- Writes that were made, so that none is made twice.
CREATE TABLE memory_writes (
    key    uuid PRIMARY KEY,
    at     bigint NOT NULL,
    result boolean NOT NULL
);

CREATE INDEX memory_writes_at ON memory_writes (at);
