-- Durations are microseconds, times are microseconds since the Unix epoch.
--
-- A migration that has been released is never edited: the next change is a new file.

-- One row per finished request. Kept narrow: figures are read over many rows, texts of one row are in request_details.
CREATE TABLE requests (
    -- Given by the writer, in the order of writing; what other tables and blocks of rows go by.
    seq               INTEGER NOT NULL PRIMARY KEY,
    id                TEXT    NOT NULL UNIQUE,
    started_at        INTEGER NOT NULL,
    host              TEXT    NOT NULL,
    program           TEXT    NOT NULL,
    version           INTEGER,
    mode              TEXT    NOT NULL,
    method            TEXT    NOT NULL,
    path              TEXT    NOT NULL,
    query             TEXT    NOT NULL,
    status            INTEGER NOT NULL,
    outcome           TEXT    NOT NULL,
    queue_us          INTEGER NOT NULL,
    start_us          INTEGER NOT NULL,
    head_us           INTEGER NOT NULL,
    body_us           INTEGER NOT NULL,
    exit_us           INTEGER NOT NULL,
    total_us          INTEGER NOT NULL,
    cpu_us            INTEGER,
    peak_memory_bytes INTEGER,
    request_bytes     INTEGER NOT NULL,
    response_bytes    INTEGER NOT NULL,
    exit_code         INTEGER,
    signal            INTEGER,
    error             TEXT,
    remote_addr       TEXT    NOT NULL,
    concurrency       INTEGER NOT NULL,
    experiment        TEXT
) STRICT;

-- Every index is paid for at each request, on the machine that is being measured, so there are few: lists and ranges
-- go by time. One on total_us would cost most, as its pages are touched at random, and would serve only the slowest of all
-- time: within a range the rows are read anyway.
CREATE INDEX requests_by_start ON requests (started_at);
CREATE INDEX requests_by_program ON requests (program, started_at);
CREATE INDEX requests_by_experiment ON requests (experiment, started_at) WHERE experiment IS NOT NULL;

-- The texts of a request. Heads and environments are JSON arrays of [name, value].
CREATE TABLE request_details (
    seq              INTEGER NOT NULL PRIMARY KEY REFERENCES requests (seq) ON DELETE CASCADE,
    stderr           TEXT    NOT NULL,
    stderr_truncated INTEGER NOT NULL,
    response_head    TEXT    NOT NULL,
    environment      TEXT    NOT NULL
) STRICT;

CREATE TABLE programs (
    name       TEXT    NOT NULL PRIMARY KEY,
    active     INTEGER,
    created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE versions (
    program       TEXT    NOT NULL REFERENCES programs (name) ON DELETE CASCADE,
    number        INTEGER NOT NULL,
    source        TEXT    NOT NULL,
    native_path   TEXT,
    native_sha256 TEXT,
    native_bytes  INTEGER,
    native_kind   TEXT,
    wasm_path     TEXT,
    wasm_sha256   TEXT,
    wasm_bytes    INTEGER,
    wasm_kind     TEXT,
    settings      TEXT    NOT NULL,
    created_by    TEXT    NOT NULL,
    created_at    INTEGER NOT NULL,
    PRIMARY KEY (program, number)
) STRICT;

-- One row. Grows with every change to programs, so that a process can see cheaply that another one changed something.
CREATE TABLE programs_generation (
    one        INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
    generation INTEGER NOT NULL
) STRICT;
INSERT INTO programs_generation (one, generation) VALUES (1, 0);

CREATE TABLE sessions (
    id_hash    TEXT    NOT NULL PRIMARY KEY,
    name       TEXT    NOT NULL,
    role       TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    used_at    INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT;
