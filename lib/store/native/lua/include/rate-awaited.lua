-- While a queue's rate is spent, one consumer waits for it to allow more, at most a minute (rate.lua); to wake others would be
-- useless.

-- Whether a consumer is going to claim once the rate allows more; it may be 0.1 s late.
local function is_rate_awaited(now_micros)
  local text = args.rate ~= '' and redis.call('GET', keys.rate)
  local awaited = text and #text >= 7 and struct.unpack('>I7', text) or 0
  return now_micros < awaited + 100000 and awaited < now_micros + 60000000
end
