-- Intents that several versions of the rules give several keys.

ALTER TABLE entries ADD COLUMN
    alias_of /* in state alias: the key of the same scope under which the intent is found */
    BLOB;

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
       strftime('%Y-%m-%dT%H:%M:%fZ', (resolution ->> 'at') / 1000.0, 'unixepoch') AS resolved_at,
       lower(hex(alias_of)) AS alias_of
FROM entries;
