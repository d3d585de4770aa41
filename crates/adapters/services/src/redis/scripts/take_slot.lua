-- Takes or renews a slot. KEYS: holders. ARGV: holder, limit, now, lifetime (both in microseconds).
-- Gives 1 if the holder has a slot.
local now, lifetime = tonumber(ARGV[3]), tonumber(ARGV[4])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', ARGV[3])
if not redis.call('ZSCORE', KEYS[1], ARGV[1]) and redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[2]) then
  return 0
end
redis.call('ZADD', KEYS[1], string.format('%.0f', now + lifetime), ARGV[1])
redis.call('PEXPIRE', KEYS[1], string.format('%.0f', math.max(1, math.ceil(lifetime / 1000))))
return 1
