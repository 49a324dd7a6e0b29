-- Reads the server's clock. First result: whole milliseconds since the epoch, rounded down, to compare due times with. Second:
-- the same in microseconds, to measure waits from.
local function read_clock()
  local time = redis.call('TIME')
  local micros = time[1] * 1000000 + time[2]
  return math.floor(micros / 1000), micros
end

-- The instant after a number of milliseconds from now, rounded up. Since comparisons round down, nothing is ever early.
local function instant_in(milliseconds, now_micros)
  return math.ceil(now_micros / 1000) + milliseconds
end

-- When something falls due: '+' and a delay, or '@' and an instant, in ms.
local function due_instant(when, now_micros)
  local delay = tonumber(when)
  return delay and instant_in(delay, now_micros) or tonumber(string.sub(when, 2))
end

-- Refuses a call that arrives after its caller gave up: by then the caller, or somebody else, may have done what this call
-- would undo. `deadline` is an instant by this server's clock in ms, 0 if the caller does not know that clock. A caller that is
-- refused while it still waits has an outdated estimate of the clock, so the refusal contains the time.
local function check_deadline(deadline, now)
  if deadline > 0 and now > deadline then
    error({ err = string.format('LATE %.0f the call arrived after its deadline; nothing was written', now) })
  end
end
