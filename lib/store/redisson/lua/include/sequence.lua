-- The next number of the sequence: microseconds by the server's clock, or one more than the last, if that clock stands still or
-- was set back.
local function next_sequence(last, now_micros)
  return math.max(now_micros, (tonumber(last or 0) or 0) + 1)
end

-- It is of no use once the clock has passed it, and would be left for ever by a queue that is used once.
local SEQUENCE_KEPT_MS = 86400000

local function store_sequence(key, sequence)
  redis.call('SET', key, string.format('%.0f', sequence), 'PX', SEQUENCE_KEPT_MS)
end
