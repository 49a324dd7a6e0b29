#!lua flags=no-writes
-- Counts the messages in each state at one instant.
--
-- KEYS delayed ready claims dead paused
-- Returns delayed, ready, active, dead, earliest due in ms (-1: none is delayed), paused (0 or 1).
--
-- Atomic so that every message is counted exactly once. Writes nothing.
--@include lowest
--@include holders

return {
  redis.call('ZCARD', keys.delayed),
  redis.call('LLEN', keys.ready),
  count_active(keys.claims),
  redis.call('ZCARD', keys.dead),
  lowest(keys.delayed) or -1,
  redis.call('GET', keys.paused) and 1 or 0,
}
