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
