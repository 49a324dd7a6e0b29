#!lua flags=no-writes
-- Counts the messages in each state at one instant.
--
-- KEYS timeouts target delayed ready claims dead paused messages
-- Returns the same as native/status. Values of the target list have no due time: if only these are ready, that of the first ready
--      message is -1.
--
-- Atomic so that every message is counted exactly once. Writes nothing.
--@include native/clock
--@include native/lowest
--@include native/holders
--@include native/oldest-ready

return {
  redis.call('ZCARD', keys.timeouts) + redis.call('ZCARD', keys.delayed),
  redis.call('LLEN', keys.target) + redis.call('LLEN', keys.ready),
  count_active(keys.claims),
  redis.call('ZCARD', keys.dead),
  (read_clock()),
  lower_of(lowest(keys.timeouts), lowest(keys.delayed)) or -1,
  oldest_ready(),
  redis.call('GET', keys.paused) and 1 or 0,
}
