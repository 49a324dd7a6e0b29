-- Counts the messages in each state at one instant.
--
-- KEYS timeouts target delayed ready claims dead paused messages
-- Returns the same as status of the native layout. Values of the target list have no due time: if only these are ready, that of the first ready
--      message is -1.
--
-- Atomic so that every message is counted exactly once. Writes nothing.
local function run(keys, args)
  local q = {
    timeouts = keys[1], target = keys[2], delayed = keys[3], ready = keys[4], claims = keys[5], dead = keys[6], paused = keys[7],
    messages = keys[8],
  }
  return {
    call('ZCARD', q.timeouts) + call('ZCARD', q.delayed),
    call('LLEN', q.target) + call('LLEN', q.ready),
    Claims.count(q.claims),
    call('ZCARD', q.dead),
    (Clock.read()),
    Scores.lower(Scores.lowest(q.timeouts), Scores.lowest(q.delayed)) or -1,
    Record.oldest_due(q.ready, q.messages),
    call('GET', q.paused) and 1 or 0,
  }
end

register('status', { 'no-writes' }, run)
