-- Uses a token. KEYS: family, tokens. ARGV: family, presented, successor, expires_at, now, grace,
-- prefix of the accounts' keys.
-- The family has the account, the valid token, and when each earlier token was replaced.
-- Gives 0 for an unknown family or an expired token, 2 for a token used too late, with its family revoked,
-- and otherwise 1, the valid token and its expiry.
local family, presented, successor, prefix = ARGV[1], ARGV[2], ARGV[3], ARGV[7]
local expires_at, now, grace = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local user = redis.call('HGET', KEYS[1], 'user')
if not user or redis.call('EXISTS', KEYS[2]) == 0 then
  return { 0 }
end
local function is_usable(token)
  local replaced_at = tonumber(redis.call('HGET', KEYS[1], token))
  return not replaced_at or now - replaced_at <= grace
end
local good_until = tonumber(redis.call('ZSCORE', KEYS[2], presented))
if good_until and good_until <= now then
  return { 0 }
end
if not good_until or not is_usable(presented) then
  redis.call('DEL', KEYS[1], KEYS[2])
  redis.call('ZREM', prefix .. user, family)
  return { 2 }
end
local valid = redis.call('HGET', KEYS[1], 'valid')
local valid_until = valid and redis.call('ZSCORE', KEYS[2], valid)
if valid_until and redis.call('HEXISTS', KEYS[1], presented) == 1 then
  return { 1, valid, tonumber(valid_until) }
end
redis.call('HSET', KEYS[1], presented, ARGV[5])
for _, token in ipairs(redis.call('ZRANGE', KEYS[2], 0, -1)) do
  if redis.call('HEXISTS', KEYS[1], token) == 0 or not is_usable(token) then
    redis.call('ZREM', KEYS[2], token)
    redis.call('HDEL', KEYS[1], token)
  end
end
redis.call('ZADD', KEYS[2], ARGV[4], successor)
redis.call('HSET', KEYS[1], 'valid', successor)
redis.call('ZADD', prefix .. user, ARGV[4], family)
local function lives_until(key, instant)
  redis.call('PEXPIRE', key, string.format('%.0f', math.ceil((instant - now) / 1000)))
end
lives_until(KEYS[1], expires_at)
lives_until(KEYS[2], expires_at)
lives_until(prefix .. user, tonumber(redis.call('ZRANGE', prefix .. user, -1, -1, 'WITHSCORES')[2]))
return { 1, successor, expires_at }
