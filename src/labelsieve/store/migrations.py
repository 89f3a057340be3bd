"""The tables of a project file, one step per version. A step that has shipped is never changed; new ones are added."""

from __future__ import annotations

STEPS: tuple[tuple[str, ...], ...] = (
    (
        "CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
        # Rows of the pool, in its order. content: a text, the path of an image, or a row of a table as JSON.
        "CREATE TABLE items (row INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, content TEXT NOT NULL)",
        # What the ledger is replayed from; never changed, never deleted.
        "CREATE TABLE entries (number INTEGER PRIMARY KEY, kind TEXT NOT NULL, facts TEXT NOT NULL, arrays BLOB, "
        "at TEXT NOT NULL)",
        # Every answer anybody gave. One that was taken back stays, and counts no more. Of an item whose answers a run
        # has used, no answer changes any more.
        "CREATE TABLE answers (number INTEGER PRIMARY KEY, row INTEGER NOT NULL REFERENCES items (row), "
        "label TEXT NOT NULL, annotator TEXT NOT NULL, at TEXT NOT NULL, taken_back TEXT, "
        "used INTEGER NOT NULL DEFAULT 0)",
        "CREATE UNIQUE INDEX one_answer_each ON answers (row, annotator) WHERE taken_back IS NULL",
        # Who may label in a browser. Of a token only its digest is kept.
        "CREATE TABLE people (name TEXT PRIMARY KEY, role TEXT NOT NULL CHECK (role IN ('annotator', 'admin')), "
        "token_digest TEXT NOT NULL UNIQUE, at TEXT NOT NULL) WITHOUT ROWID",
        # Who has which item before them, and until when, in seconds since 1970.
        "CREATE TABLE leases (annotator TEXT PRIMARY KEY, row INTEGER NOT NULL REFERENCES items (row), "
        "until REAL NOT NULL) WITHOUT ROWID",
        # Items a person did not want to decide on; the latest of a person and an item counts.
        "CREATE TABLE passes (number INTEGER PRIMARY KEY, row INTEGER NOT NULL REFERENCES items (row), "
        "annotator TEXT NOT NULL, kind TEXT NOT NULL CHECK (kind IN ('skip', 'not sure')), at TEXT NOT NULL)",
        # Machine labels that a person looked at: accepted without a label, else corrected to it. The latest counts.
        "CREATE TABLE reviews (number INTEGER PRIMARY KEY, row INTEGER NOT NULL REFERENCES items (row), "
        "label TEXT, annotator TEXT NOT NULL, at TEXT NOT NULL)",
        "CREATE INDEX reviews_of_row ON reviews (row)",
    ),
)
