-- Intents that several versions of the rules give several keys.

ALTER TABLE "ledger".entries ADD COLUMN alias_of bytea;

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
       to_timestamp((resolution::json ->> 'at')::int8 / 1000.0) AS resolved_at,
       encode(alias_of, 'hex') AS alias_of
FROM "ledger".entries;

COMMENT ON COLUMN "ledger".entries.alias_of IS
    'in state alias: the key of the same scope under which the intent is found';
COMMENT ON COLUMN "ledger".entries.state IS
    'alias, claimed, dispatching, done, failed, free, partial, unknown';
