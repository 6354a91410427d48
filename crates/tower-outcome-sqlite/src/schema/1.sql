-- Everything here is kept in the file: `.schema` in the sqlite3 shell shows it with its comments.

CREATE TABLE entries (
    scope        TEXT    NOT NULL, -- who owns the effect: a tenant, an account
    key          BLOB    NOT NULL, -- 32 bytes that name the intent
    tool         TEXT    NOT NULL, -- what was to be done
    state        TEXT    NOT NULL, -- claimed, dispatching, done, failed, free, partial, unknown
    epoch        INTEGER NOT NULL, -- counts claims; fences off owners with an older number
    generation   INTEGER NOT NULL, -- part of the key on the wire; moves on a proven refusal
    maybe_sent   INTEGER NOT NULL, -- 1: a request of this generation may have left
    owner        BLOB    NOT NULL, -- 16 random bytes, new at each start of a process
    lease_until  INTEGER NOT NULL, -- until when the owner counts as alive, in ms since 1970
    fingerprint  TEXT    NOT NULL, -- JSON: hashes of what must be equal in an identical call
    code         TEXT,             -- why it is in its state, once it has ended or is in doubt
    landing      TEXT    NOT NULL, -- in_flight: something in doubt may still land; settled
    result       BLOB,             -- what identical calls are answered
    writes       TEXT    NOT NULL, -- JSON: label, route and key of each write of the call
    created_at   INTEGER NOT NULL, -- first claimed, in ms since 1970
    updated_at   INTEGER NOT NULL, -- last changed, in ms since 1970
    last_send_by INTEGER,          -- when its owner stops sending at the latest, in ms since 1970
    PRIMARY KEY (scope, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX unresolved ON entries (updated_at)
    WHERE state IN ('claimed', 'dispatching', 'unknown');

-- For people. A claimed or dispatching row whose lease has ended is as good as free or unknown.
CREATE VIEW outcomes AS
SELECT scope,
       lower(hex(key)) AS key,
       tool,
       state,
       code,
       maybe_sent,
       strftime('%Y-%m-%dT%H:%M:%fZ', created_at / 1000.0, 'unixepoch') AS created_at,
       strftime('%Y-%m-%dT%H:%M:%fZ', updated_at / 1000.0, 'unixepoch') AS updated_at,
       strftime('%Y-%m-%dT%H:%M:%fZ', lease_until / 1000.0, 'unixepoch') AS lease_until
FROM entries;
