-- Uses a token. KEYS: family, tokens. ARGV: family, presented, successor, expires_at, now, grace,
-- most tokens of a family, prefix of the accounts' keys.
-- Gives 0 for an unknown token, 1 for a renewed one, 2 for one used too late, with its family revoked.
local family, presented, successor, prefix = ARGV[1], ARGV[2], ARGV[3], ARGV[8]
local expires_at, now, grace, most = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])
local user = redis.call('HGET', KEYS[1], 'user')
local good_until = tonumber(redis.call('ZSCORE', KEYS[2], presented))
if not user or not good_until or good_until <= now then
  return 0
end
local replaced_at = tonumber(redis.call('HGET', KEYS[1], presented))
if replaced_at and now - replaced_at > grace then
  redis.call('DEL', KEYS[1], KEYS[2])
  redis.call('ZREM', prefix .. user, family)
  return 2
end
if not replaced_at then
  redis.call('HSET', KEYS[1], presented, ARGV[5])
end
for _, token in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', ARGV[5])) do
  redis.call('HDEL', KEYS[1], token)
end
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', ARGV[5])
if expires_at > now then
  redis.call('ZADD', KEYS[2], ARGV[4], successor)
end
if redis.call('ZCARD', KEYS[2]) > most then
  redis.call('HDEL', KEYS[1], redis.call('ZPOPMIN', KEYS[2])[1])
end
local function last(key)
  return tonumber(redis.call('ZRANGE', key, -1, -1, 'WITHSCORES')[2])
end
local function lives_until(key, instant)
  redis.call('PEXPIRE', key, string.format('%.0f', math.ceil((instant - now) / 1000)))
end
local expires = last(KEYS[2])
redis.call('ZADD', prefix .. user, string.format('%.0f', expires), family)
lives_until(KEYS[1], expires)
lives_until(KEYS[2], expires)
lives_until(prefix .. user, last(prefix .. user))
return 1
