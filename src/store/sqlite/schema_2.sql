-- Results of nodes that say `cache`, by a key that no thread has for itself. `until` is when one holds no
-- longer, in milliseconds since 1970.
CREATE TABLE kept (
    key    TEXT PRIMARY KEY,
    result TEXT NOT NULL,
    until  INTEGER
) STRICT;

CREATE INDEX kept_until ON kept (until) WHERE until IS NOT NULL;
