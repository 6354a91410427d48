-- A file as the version before wrote it, with one entry of each kind that matters to the next.

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

-- What a reconciler has tried, and what a person has decided.

ALTER TABLE entries ADD COLUMN
    looks /* how often it has been looked up since it came to be in doubt */
    INTEGER NOT NULL DEFAULT 0;
ALTER TABLE entries ADD COLUMN
    look_at /* when the next look is due, in ms since 1970; ahead of that, when the lease ends */
    INTEGER NOT NULL DEFAULT 0;
ALTER TABLE entries ADD COLUMN
    resolution /* JSON: who decided, why and when, where a person has */
    TEXT;

UPDATE entries SET look_at = CASE state WHEN 'unknown' THEN updated_at ELSE lease_until END;

-- What may have to be looked up.
CREATE INDEX due ON entries (look_at, scope, key)
    WHERE maybe_sent AND state IN ('claimed', 'dispatching', 'unknown');

-- The order in which entries are listed.
CREATE INDEX by_age ON entries (created_at, scope, key);

-- What will have outlived its use.
CREATE INDEX results ON entries (updated_at)
    WHERE result IS NOT NULL AND state IN ('done', 'partial');
CREATE INDEX ended ON entries (updated_at)
    WHERE state IN ('done', 'failed', 'free', 'partial') OR NOT maybe_sent;

DROP VIEW outcomes;

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
       strftime('%Y-%m-%dT%H:%M:%fZ', (resolution ->> 'at') / 1000.0, 'unixepoch') AS resolved_at
FROM entries;

INSERT INTO entries VALUES
    ('acme', x'0000000000000000000000000000000000000000000000000000000000000001', 'refund', 'done', 1, 0, 1, zeroblob(16), 1750000030123,
     '{"body":"000102030405060708090a0b0c0d0e0f"}', 'done', 'in_flight', x'7b7d', '[]',
     1750000000123, 1750000001123, 1750000010123, 0, 1750000030123, NULL),
    ('acme', x'0000000000000000000000000000000000000000000000000000000000000002', 'refund', 'unknown', 2, 1, 1, zeroblob(16), 1750000030123, '{}',
     'timeout_after_send', 'in_flight', NULL,
     '[{"label":"refund","route":"POST api.example/refunds","wire_key":"k-2","only":true}]',
     1750000000123, 1750000002123, 1750000010123, 3, 1750000090123, NULL);
PRAGMA application_id = 0x744f7574;
PRAGMA user_version = 2;
