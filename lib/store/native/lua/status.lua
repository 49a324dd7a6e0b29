#!lua flags=no-writes
-- Counts the messages in each state at one instant.
--
-- KEYS delayed ready claims dead paused messages
-- Returns delayed, ready, active, dead, now in ms, earliest due in ms (-1: none is delayed), due time of the first ready message
--      in ms (-1: none is ready), paused (0 or 1).
--
-- Atomic so that every message is counted exactly once. Writes nothing.
--@include clock
--@include lowest
--@include holders
--@include oldest-ready

local delayed, ready = redis.call('ZCARD', keys.delayed), redis.call('LLEN', keys.ready)
local active, dead = count_active(keys.claims), redis.call('ZCARD', keys.dead)
--@with lanes -- The others wait in lines.
--@with lanes ready = math.max(ready, redis.call('HLEN', keys.messages) - delayed - active - dead)
return {
  delayed,
  ready,
  active,
  dead,
  (read_clock()),
  lowest(keys.delayed) or -1,
  oldest_ready(),
  redis.call('GET', keys.paused) and 1 or 0,
}
