-- A schema as the version before made it, with one entry of each kind that matters to the next.
-- "ledger" stands for the schema that the ledger was given.

CREATE SCHEMA "ledger";

CREATE TABLE "ledger".migrations (
    version    int4        PRIMARY KEY,
    applied_at timestamptz NOT NULL DEFAULT now()
);
INSERT INTO "ledger".migrations (version) VALUES (1), (2);

-- "ledger" stands for the schema that the ledger was given.

CREATE TABLE "ledger".entries (
    epoch        int8  NOT NULL,
    generation   int8  NOT NULL,
    revision     int8  NOT NULL,
    lease_until  int8  NOT NULL,
    created_at   int8  NOT NULL,
    updated_at   int8  NOT NULL,
    last_send_by int8,
    maybe_sent   bool  NOT NULL,
    key          bytea NOT NULL,
    owner        bytea NOT NULL,
    scope        text  NOT NULL,
    tool         text  NOT NULL,
    state        text  NOT NULL,
    code         text,
    landing      text  NOT NULL,
    fingerprint  text  NOT NULL,
    writes       text  NOT NULL,
    result       bytea,
    PRIMARY KEY (scope, key)
);

-- Each row is in one of these three at most.
CREATE INDEX unresolved ON "ledger".entries (updated_at)
    WHERE maybe_sent AND state IN ('claimed', 'dispatching', 'unknown');
CREATE INDEX results ON "ledger".entries (updated_at)
    WHERE result IS NOT NULL AND state IN ('done', 'partial');
CREATE INDEX ended ON "ledger".entries (updated_at)
    WHERE result IS NULL AND (state IN ('done', 'failed', 'free', 'partial') OR NOT maybe_sent);

-- For people. A claimed or dispatching row whose lease has ended is as good as free or unknown.
CREATE VIEW "ledger".outcomes AS
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
       END AS lease_until
FROM "ledger".entries;

COMMENT ON TABLE "ledger".entries IS 'what is known of each intent; holds no argument';
COMMENT ON COLUMN "ledger".entries.epoch IS
    'counts claims; fences off owners with an older number';
COMMENT ON COLUMN "ledger".entries.generation IS
    'part of the key on the wire; moves on a proven refusal';
COMMENT ON COLUMN "ledger".entries.revision IS
    'counts changes of the row; a change names the one that it was decided on';
COMMENT ON COLUMN "ledger".entries.lease_until IS
    'until when the owner counts as alive, in ms since 1970';
COMMENT ON COLUMN "ledger".entries.created_at IS 'first claimed, in ms since 1970';
COMMENT ON COLUMN "ledger".entries.updated_at IS 'last changed, in ms since 1970';
COMMENT ON COLUMN "ledger".entries.last_send_by IS
    'when its owner stops sending at the latest, in ms since 1970';
COMMENT ON COLUMN "ledger".entries.maybe_sent IS
    'whether a request of this generation may have left';
COMMENT ON COLUMN "ledger".entries.key IS '32 bytes that name the intent';
COMMENT ON COLUMN "ledger".entries.owner IS '16 random bytes, new at each start of a process';
COMMENT ON COLUMN "ledger".entries.scope IS 'who owns the effect: a tenant, an account';
COMMENT ON COLUMN "ledger".entries.tool IS 'what was to be done';
COMMENT ON COLUMN "ledger".entries.state IS
    'claimed, dispatching, done, failed, free, partial, unknown';
COMMENT ON COLUMN "ledger".entries.code IS
    'why it is in its state, once it has ended or is in doubt';
COMMENT ON COLUMN "ledger".entries.landing IS
    'in_flight: something in doubt may still land; settled: it cannot any more';
COMMENT ON COLUMN "ledger".entries.fingerprint IS
    'JSON: hashes of what must be equal in an identical call';
COMMENT ON COLUMN "ledger".entries.writes IS
    'JSON: label, route and key of each write of the call';
COMMENT ON COLUMN "ledger".entries.result IS 'what identical calls are answered';
COMMENT ON VIEW "ledger".outcomes IS 'the entries for people';

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

INSERT INTO "ledger".entries (
    scope, key, tool, state, epoch, generation, revision, maybe_sent, owner, lease_until,
    fingerprint, code, landing, result, writes, created_at, updated_at, last_send_by, looks, look_at
) VALUES
    ('acme', decode(repeat('00', 31) || '01', 'hex'), 'refund', 'done', 1, 0, 3, true,
     decode(repeat('00', 16), 'hex'), 1750000030123, '{"body":"000102030405060708090a0b0c0d0e0f"}',
     'done', 'in_flight', decode('7b7d', 'hex'), '[]', 1750000000123, 1750000001123, 1750000010123,
     0, 1750000030123),
    ('acme', decode(repeat('00', 31) || '02', 'hex'), 'refund', 'unknown', 2, 1, 4, true,
     decode(repeat('00', 16), 'hex'), 1750000030123, '{}', 'timeout_after_send', 'in_flight', NULL,
     '[{"label":"refund","route":"POST api.example/refunds","wire_key":"k-2","only":true}]',
     1750000000123, 1750000002123, 1750000010123, 3, 1750000090123);
