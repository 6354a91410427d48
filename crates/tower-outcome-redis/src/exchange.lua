-- Replaces an entry if its revision is still the one that was read.
--
-- KEYS: the entry, its result, the open entries, the same ones by when they are to be looked up, and
--       the aliases where the entry is or was one.
-- ARGV: 1 the revision that was read, empty for no entry   2 the new row
--       3 for how many ms the row is kept, 0 for ever      4 the entry's member among the open ones
--       5 its place among them, 'out' or 'leave'            6 'set' or 'drop' the result, or 'leave' it
--       7 the result                                       8 for how many ms it is kept, 0 for ever
--       9 when it is to be looked up                      10 when the alias was used, or 'out'
--
-- A script is not rolled back where one of its calls fails. So what a row needs comes before it, and
-- what it no longer needs goes after it.
local found = redis.call('GET', KEYS[1])
local time = redis.call('TIME')
local same = not found
if ARGV[1] ~= '' then
  same = found and string.sub(found, 1, 48) == ARGV[1]
end
if not same then
  return {0, time[1], time[2], found, redis.call('GET', KEYS[2])}
end

local function set(key, value, kept)
  if kept == '0' then
    redis.call('SET', key, value)
  else
    redis.call('SET', key, value, 'PX', kept)
  end
end

if ARGV[5] ~= 'out' and ARGV[5] ~= 'leave' then
  redis.call('ZADD', KEYS[3], ARGV[5], ARGV[4])
  redis.call('ZADD', KEYS[4], ARGV[9], ARGV[4])
end
if KEYS[5] and ARGV[10] ~= 'out' then
  redis.call('ZADD', KEYS[5], ARGV[10], ARGV[4])
end
if ARGV[6] == 'set' then
  set(KEYS[2], ARGV[7], ARGV[8])
end
set(KEYS[1], ARGV[2], ARGV[3])
if ARGV[5] == 'out' then
  redis.call('ZREM', KEYS[3], ARGV[4])
  redis.call('ZREM', KEYS[4], ARGV[4])
end
if KEYS[5] and ARGV[10] == 'out' then
  redis.call('ZREM', KEYS[5], ARGV[4])
end
if ARGV[6] == 'drop' then
  redis.call('DEL', KEYS[2])
end
return {1, time[1], time[2], false, false}
