-- Counts the messages in each state at one instant.
--
-- KEYS delayed ready claims dead paused messages
--      | permits
-- Returns delayed, ready, active, dead, now in ms, earliest due in ms (-1: none is delayed), due time of the first ready message
--      in ms (-1: none is ready), paused (0 or 1).
--
-- Atomic so that every message is counted exactly once. Writes nothing.
local function run(keys)
  local delayed, ready, claims, dead, paused, messages, permits = keys[1], keys[2], keys[3], keys[4], keys[5], keys[6], keys[7]
  local counts = { call('ZCARD', delayed), call('LLEN', ready), Claims.count(claims), call('ZCARD', dead) }
  if permits then
    -- With groups, ready messages also wait in backlogs, which LLEN misses. Every message in no other state is ready.
    counts[2] = max(counts[2], call('HLEN', messages) - counts[1] - counts[3] - counts[4])
  end
  return {
    counts[1], counts[2], counts[3], counts[4], (Clock.read()), Scores.lowest(delayed) or -1, Record.oldest_due(ready, messages),
    call('GET', paused) and 1 or 0,
  }
end

register('status', { 'no-writes' }, run)
