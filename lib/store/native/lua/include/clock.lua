-- The server's clock in whole milliseconds since the epoch, rounded down: a message is never early by it.
-- Second result: the same in microseconds, for waits that are measured from it.
local function read_clock()
  local time = redis.call('TIME')
  local micros = time[1] * 1000000 + time[2]
  return math.floor(micros / 1000), micros
end
