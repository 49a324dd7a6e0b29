-- The next number of the sequence: microseconds by the server's clock, or one more than the last number if the clock has not
-- advanced beyond that.
local function next_sequence(last, now_micros)
  return math.max(now_micros, (tonumber(last or 0) or 0) + 1)
end

-- The stored number is useless once the clock has passed it; without an expiry, a queue that is used only once would leave it
-- forever.
local SEQUENCE_KEPT_MS = 86400000

local function store_sequence(key, sequence)
  redis.call('SET', key, string.format('%.0f', sequence), 'PX', SEQUENCE_KEPT_MS)
end
