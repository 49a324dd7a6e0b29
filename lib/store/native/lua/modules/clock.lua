-- The server's clock, and the times that calls specify.

-- Returns the time since the epoch in whole milliseconds, rounded down, for comparison with due times; and in microseconds, for waits.
function Clock.read()
  local time = call('TIME')
  local micros = time[1] * 1000000 + time[2]
  return (micros - micros % 1000) / 1000, micros
end

-- Returns the time that is `milliseconds` after `micros`, rounded up to whole ms. Comparisons round down, so nothing is ever early.
function Clock.after(milliseconds, micros)
  return ceil(micros / 1000) + milliseconds
end

-- Returns the due time, in ms, that `when` specifies: a delay, '+' and a delay, or '@' and an instant. Ignores anything after a space.
function Clock.due(when, micros)
  local delay = tonumber(when)
  if delay then
    return ceil(micros / 1000) + delay
  end
  local kind, number = match(when, '^([+@])(%d+)')
  return kind == '+' and ceil(micros / 1000) + number or tonumber(number)
end

-- Refuses a call that arrives after its caller has given up: since then, somebody may have done something that this call would undo.
-- `deadline`: an instant in ms, as a string, or '0' if the caller does not know this clock. The refusal contains the time, because a caller
-- that is still waiting has a wrong estimate of this clock.
function Clock.check(deadline, now)
  if deadline ~= '0' and now - deadline > 0 then
    error({ err = format('LATE %.0f the call arrived after its deadline; nothing was written', now) })
  end
end
