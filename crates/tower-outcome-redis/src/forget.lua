-- Forgets an alias that nobody has used since it was read, if the entry that it leads to is gone.
--
-- KEYS: the alias, the entry that it leads to, the aliases.
-- ARGV: 1 the revision that was read   2 the alias's member among the aliases
--       3 its place among them if it stays
local found = redis.call('GET', KEYS[1])
if not found then
  redis.call('ZREM', KEYS[3], ARGV[2])
  return 0
end
if string.sub(found, 1, 48) ~= ARGV[1] or redis.call('GET', KEYS[2]) then
  redis.call('ZADD', KEYS[3], ARGV[3], ARGV[2])
  return 0
end
redis.call('DEL', KEYS[1])
redis.call('ZREM', KEYS[3], ARGV[2])
return 1
