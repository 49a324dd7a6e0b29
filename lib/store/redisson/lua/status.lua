#!lua flags=no-writes
-- Counts the messages in each state at one instant.
--
-- KEYS timeouts target delayed ready claims dead paused
-- Returns delayed, ready, active, dead, earliest due in ms (-1: none is delayed), paused (0 or 1).
--
-- Atomic so that every message is counted exactly once. Writes nothing.
--@include native/lowest
--@include native/holders

return {
  redis.call('ZCARD', keys.timeouts) + redis.call('ZCARD', keys.delayed),
  redis.call('LLEN', keys.target) + redis.call('LLEN', keys.ready),
  count_active(keys.claims),
  redis.call('ZCARD', keys.dead),
  lower_of(lowest(keys.timeouts), lowest(keys.delayed)) or -1,
  redis.call('GET', keys.paused) and 1 or 0,
}
