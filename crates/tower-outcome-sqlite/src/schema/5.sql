-- The same indexes by conditions that cost next to nothing: for every IN of more than two values
-- SQLite builds a table of its own, each time that a row is written.

DROP INDEX unresolved;
DROP INDEX due;
DROP INDEX ended;
DROP INDEX strange;

CREATE INDEX unresolved ON entries (updated_at)
    WHERE (state = 'claimed' OR state = 'dispatching' OR state = 'unknown');

-- What may have to be looked up.
CREATE INDEX due ON entries (look_at, scope, key)
    WHERE maybe_sent AND (state = 'claimed' OR state = 'dispatching' OR state = 'unknown');

-- What will have outlived its use.
CREATE INDEX ended ON entries (updated_at)
    WHERE (state = 'done' OR state = 'failed' OR state = 'free' OR state = 'partial' OR NOT maybe_sent);

-- Rows that are not where an order would have them: damaged, or written by a newer version.
CREATE INDEX strange ON entries (scope, key)
    WHERE (state <> 'alias' AND state <> 'claimed' AND state <> 'dispatching' AND state <> 'done'
            AND state <> 'failed' AND state <> 'free' AND state <> 'partial' AND state <> 'unknown'
        OR length(key) <> 32 OR created_at < 0 OR updated_at < 0 OR look_at < 0);
