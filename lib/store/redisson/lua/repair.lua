#!lua flags=allow-oom
-- Finds messages that are stored but in no state, as damage from outside may leave them, and makes them ready. Messages that
-- were offered here and that no consumer has taken yet are in Redisson's keys, and are not lost.
--
-- KEYS messages delayed ready claims dead wake paused offered
-- ARGV as native/repair
-- Returns the same as native/repair.
--
-- Atomic so that a message on its way from one state to another is not mistaken for lost. A crash right after leaves them ready.
--@include native/repair

return repair(function()
  return redis.call('ZCARD', keys.offered)
end, function(id)
  return redis.call('ZSCORE', keys.offered, id)
end)
