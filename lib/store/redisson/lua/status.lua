#!lua flags=no-writes
-- Counts the messages in each state at one instant.
--
-- KEYS 1 timeouts  2 target  3 delayed  4 ready  5 claims  6 dead  7 paused
-- Returns delayed, ready, active, dead, earliest due in ms (-1: none is delayed), paused (0 or 1).
--
-- Atomic so that no message is counted twice or not at all. Writes nothing.
--@include native/announce
--@include native/held
--@include native/holders

local timeouts, target, delayed, ready, claims, dead, paused = unpack(KEYS)

local due, due_again = earliest_due(timeouts), earliest_due(delayed)
local earliest = due or due_again or -1
if due and due_again then
  earliest = math.min(due, due_again)
end
return {
  redis.call('ZCARD', timeouts) + redis.call('ZCARD', delayed),
  redis.call('LLEN', target) + redis.call('LLEN', ready),
  count_active(claims),
  redis.call('ZCARD', dead),
  earliest,
  redis.call('GET', paused) and 1 or 0,
}
