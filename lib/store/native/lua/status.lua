#!lua flags=no-writes
-- Counts the messages in each state at one instant.
--
-- KEYS 1 delayed  2 ready  3 claims  4 dead  5 paused
-- Returns delayed, ready, active, dead, earliest due in ms (-1: none is delayed), paused (0 or 1).
--
-- Atomic so that no message is counted twice or not at all. Writes nothing.
--@include announce
--@include held
--@include holders

local delayed, ready, claims, dead, paused = unpack(KEYS)

return {
  redis.call('ZCARD', delayed),
  redis.call('LLEN', ready),
  count_active(claims),
  redis.call('ZCARD', dead),
  earliest_due(delayed) or -1,
  redis.call('GET', paused) and 1 or 0,
}
