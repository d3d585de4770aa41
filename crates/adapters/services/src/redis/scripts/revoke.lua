-- Ends a family. KEYS: family, tokens. ARGV: family, prefix of the accounts' keys.
local user = redis.call('HGET', KEYS[1], 'user')
if user then
  redis.call('ZREM', ARGV[2] .. user, ARGV[1])
end
redis.call('DEL', KEYS[1], KEYS[2])
