-- The same rows where a write touches fewer pages. A row lies where it was made and stays there; only
-- the entry of its key lies anywhere. No index has a condition with an IN of more than two values, for
-- which SQLite builds a table of its own each time that a row is written.

DROP VIEW outcomes;
ALTER TABLE entries RENAME TO entries_before;

CREATE TABLE entries (
    scope        TEXT    NOT NULL, -- who owns the effect: a tenant, an account
    key          BLOB    NOT NULL, -- 32 bytes that name the intent
    tool         TEXT    NOT NULL, -- what was to be done
    state        TEXT    NOT NULL, -- alias, claimed, dispatching, done, failed, free, partial, unknown
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
    looks        INTEGER NOT NULL, -- how often it has been looked up since it came to be in doubt
    look_at      INTEGER NOT NULL, -- when the next look is due, in ms since 1970; ahead of that, when the lease ends
    resolution   TEXT,             -- JSON: who decided, why and when, where a person has
    alias_of     BLOB,             -- in state alias: the key of the same scope under which the intent is found
    PRIMARY KEY (scope, key)
) STRICT;

INSERT INTO entries
SELECT scope, key, tool, state, epoch, generation, maybe_sent, owner, lease_until, fingerprint,
       code, landing, result, writes, created_at, updated_at, last_send_by, looks, look_at,
       resolution, alias_of
FROM entries_before
ORDER BY created_at;

DROP TABLE entries_before;

-- What may be in doubt.
CREATE INDEX unresolved ON entries (updated_at, scope, key)
    WHERE (state = 'claimed' OR state = 'dispatching' OR state = 'unknown');

-- What may have to be looked up.
CREATE INDEX due ON entries (look_at, scope, key)
    WHERE maybe_sent AND (state = 'claimed' OR state = 'dispatching' OR state = 'unknown');

-- The order in which entries are listed.
CREATE INDEX by_age ON entries (created_at, scope, key);

-- What will have outlived its use.
CREATE INDEX results ON entries (updated_at)
    WHERE result IS NOT NULL AND (state = 'done' OR state = 'partial');
CREATE INDEX ended ON entries (updated_at)
    WHERE (state = 'done' OR state = 'failed' OR state = 'free' OR state = 'partial' OR NOT maybe_sent);

-- Rows that are not where an order would have them: damaged, or written by a newer version.
CREATE INDEX strange ON entries (scope, key)
    WHERE (state <> 'alias' AND state <> 'claimed' AND state <> 'dispatching' AND state <> 'done'
            AND state <> 'failed' AND state <> 'free' AND state <> 'partial' AND state <> 'unknown'
        OR length(key) <> 32 OR created_at < 0 OR updated_at < 0 OR look_at < 0);

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
       strftime('%Y-%m-%dT%H:%M:%fZ', lease_until / 1000.0, 'unixepoch') AS lease_until,
       looks,
       strftime('%Y-%m-%dT%H:%M:%fZ', look_at / 1000.0, 'unixepoch') AS look_at,
       resolution ->> 'by' AS resolved_by,
       resolution ->> 'reason' AS resolved_because,
       strftime('%Y-%m-%dT%H:%M:%fZ', (resolution ->> 'at') / 1000.0, 'unixepoch') AS resolved_at,
       lower(hex(alias_of)) AS alias_of
FROM entries;
