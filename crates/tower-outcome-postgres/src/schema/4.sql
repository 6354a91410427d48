-- Rows that are not where an order would have them: damaged, or written by a newer version.

CREATE INDEX strange ON "ledger".entries (scope, key)
    WHERE state NOT IN ('alias', 'claimed', 'dispatching', 'done', 'failed', 'free', 'partial', 'unknown')
        OR length(key) <> 32 OR created_at < 0 OR updated_at < 0 OR look_at < 0;
