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
