-- Ends every family of an account. KEYS: families of the account. ARGV: prefix of the families' keys.
for _, family in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
  redis.call('DEL', ARGV[1] .. family, ARGV[1] .. family .. ':tokens')
end
redis.call('DEL', KEYS[1])
