-- Starts a family. KEYS: family, tokens, families of the account.
-- ARGV: user, family, token, expires_at, now, prefix of the accounts' keys.
local user, family, token, prefix = ARGV[1], ARGV[2], ARGV[3], ARGV[6]
local expires_at, now = tonumber(ARGV[4]), tonumber(ARGV[5])
local before = redis.call('HGET', KEYS[1], 'user')
if before then
  redis.call('ZREM', prefix .. before, family)
end
redis.call('DEL', KEYS[1], KEYS[2])
redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', ARGV[5])
if expires_at <= now then
  return
end
redis.call('HSET', KEYS[1], 'user', user, 'valid', token)
redis.call('ZADD', KEYS[2], ARGV[4], token)
redis.call('ZADD', KEYS[3], ARGV[4], family)
local function lives_until(key, last)
  redis.call('PEXPIRE', key, string.format('%.0f', math.ceil((last - now) / 1000)))
end
lives_until(KEYS[1], expires_at)
lives_until(KEYS[2], expires_at)
lives_until(KEYS[3], tonumber(redis.call('ZRANGE', KEYS[3], -1, -1, 'WITHSCORES')[2]))
