-- What a reconciler has tried, and what a person has decided.

ALTER TABLE "ledger".entries
    ADD COLUMN looks      int8 NOT NULL DEFAULT 0,
    ADD COLUMN look_at    int8 NOT NULL DEFAULT 0,
    ADD COLUMN resolution text;

UPDATE "ledger".entries
SET look_at = CASE state WHEN 'unknown' THEN updated_at ELSE lease_until END
WHERE state IN ('claimed', 'dispatching', 'unknown');

-- What may have to be looked up. No time is below 0: that keeps the planner from taking this index,
-- and a sort, for the one of what is unresolved.
CREATE INDEX due ON "ledger".entries (look_at)
    WHERE maybe_sent AND state IN ('claimed', 'dispatching', 'unknown') AND look_at >= 0;

-- The order in which entries are listed.
CREATE INDEX by_age ON "ledger".entries (created_at, scope COLLATE "C", key);

CREATE OR REPLACE VIEW "ledger".outcomes AS
SELECT scope,
       encode(key, 'hex') AS key,
       tool,
       state,
       code,
       maybe_sent,
       to_timestamp(created_at / 1000.0) AS created_at,
       to_timestamp(updated_at / 1000.0) AS updated_at,
       CASE
           WHEN lease_until < 253402300800000 THEN to_timestamp(lease_until / 1000.0)
           ELSE 'infinity'
       END AS lease_until,
       looks,
       CASE
           WHEN look_at < 253402300800000 THEN to_timestamp(look_at / 1000.0)
           ELSE 'infinity'
       END AS look_at,
       resolution::json ->> 'by' AS resolved_by,
       resolution::json ->> 'reason' AS resolved_because,
       to_timestamp((resolution::json ->> 'at')::int8 / 1000.0) AS resolved_at
FROM "ledger".entries;

COMMENT ON COLUMN "ledger".entries.looks IS
    'how often it has been looked up since it came to be in doubt';
COMMENT ON COLUMN "ledger".entries.look_at IS
    'when the next look is due, in ms since 1970; ahead of that, when the lease ends';
COMMENT ON COLUMN "ledger".entries.resolution IS
    'JSON: who decided, why and when, where a person has';
