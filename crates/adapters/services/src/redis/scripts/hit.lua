-- Counts one event. KEYS: window. ARGV: now, length (both in microseconds).
-- Gives the events of the window and the microseconds until it closes.
local now, length = tonumber(ARGV[1]), tonumber(ARGV[2])
local closes_at = tonumber(redis.call('HGET', KEYS[1], 'closes_at'))
if not closes_at or closes_at <= now then
  closes_at = now + length
  redis.call('DEL', KEYS[1])
  redis.call('HSET', KEYS[1], 'closes_at', string.format('%.0f', closes_at))
  redis.call('PEXPIRE', KEYS[1], string.format('%.0f', math.max(1, math.ceil(length / 1000))))
end
return { redis.call('HINCRBY', KEYS[1], 'n', 1), closes_at - now }
