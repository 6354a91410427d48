-- Writes the rows that nobody changed meanwhile and reads those that somebody did.
--
-- Every asked row comes with the revision that it is to have; it is written if the row there has
-- the one before and the same first claim (a purged row that was made anew has not). A row without
-- a revision is read only. Locks are taken in the order of the primary key: no two of these
-- statements wait for each other.
WITH asked AS MATERIALIZED (
    SELECT *
    FROM unnest(
        $1::text[], $2::bytea[], $3::int8[], $4::int8[], $5::int8[], $6::int8[], $7::int8[],
        $8::int8[], $9::int8[], $10::bool[], $11::bytea[], $12::text[], $13::text[], $14::text[],
        $15::text[], $16::text[], $17::text[], $18::bytea[], $19::int8[], $20::int8[], $21::text[],
        $22::bytea[]
    ) WITH ORDINALITY AS given (
        scope, key, epoch, generation, revision, lease_until, created_at, updated_at, last_send_by,
        maybe_sent, owner, tool, state, code, landing, fingerprint, writes, result, looks, look_at,
        resolution, alias_of, number
    )
), known AS MATERIALIZED (
    -- One look-up by the primary key for each, however many rows there are.
    SELECT asked.number, given.*
    FROM asked
    CROSS JOIN LATERAL (
        SELECT *
        FROM "ledger".entries AS entry
        WHERE entry.scope = asked.scope AND entry.key = asked.key
        LIMIT 1
    ) AS given
), written AS (
    INSERT INTO "ledger".entries AS entry (
        scope, key, epoch, generation, revision, lease_until, created_at, updated_at, last_send_by,
        maybe_sent, owner, tool, state, code, landing, fingerprint, writes, result, looks, look_at,
        resolution, alias_of
    )
    SELECT
        asked.scope, asked.key, epoch, generation, asked.revision, lease_until, asked.created_at,
        updated_at, last_send_by, maybe_sent, owner, tool, state, code, landing, fingerprint,
        writes, result, looks, look_at, resolution, alias_of
    FROM asked
    LEFT JOIN (SELECT number, revision, created_at FROM known) AS found USING (number)
    WHERE asked.revision = coalesce(found.revision, 0) + 1
        AND asked.created_at = coalesce(found.created_at, asked.created_at)
    ORDER BY asked.scope, asked.key
    ON CONFLICT (scope, key) DO UPDATE SET
        epoch = excluded.epoch,
        generation = excluded.generation,
        revision = excluded.revision,
        lease_until = excluded.lease_until,
        updated_at = excluded.updated_at,
        last_send_by = excluded.last_send_by,
        maybe_sent = excluded.maybe_sent,
        owner = excluded.owner,
        tool = excluded.tool,
        state = excluded.state,
        code = excluded.code,
        landing = excluded.landing,
        fingerprint = excluded.fingerprint,
        writes = excluded.writes,
        result = excluded.result,
        looks = excluded.looks,
        look_at = excluded.look_at,
        resolution = excluded.resolution,
        alias_of = excluded.alias_of
    -- Of the row as it is by now, which this statement may not have seen above.
    WHERE entry.revision = excluded.revision - 1 AND entry.created_at = excluded.created_at
    RETURNING scope, key
)
SELECT
    asked.number,
    written.key IS NOT NULL AS written,
    floor(extract(epoch FROM clock_timestamp()) * 1000)::int8 AS time,
    -- Whatever else the transaction does, its commit waits for the disk.
    (
        SELECT set_config('synchronous_commit', 'on', true)
        WHERE current_setting('synchronous_commit') = 'off'
    ) AS waits,
    known.*
FROM asked
LEFT JOIN written ON written.scope = asked.scope AND written.key = asked.key
LEFT JOIN known ON written.key IS NULL AND known.number = asked.number
