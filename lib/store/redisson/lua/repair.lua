#!lua flags=allow-oom
-- Makes messages ready that are kept but are in no state, as damage from outside may leave them. What was offered here and no
-- consumer has taken yet is where Redisson keeps it, and none of these.
--
-- KEYS messages delayed ready claims dead wake paused offered
-- ARGV as native/repair
-- Returns as native/repair.
--
-- Atomic so that a message on its way from one state to another is not taken for lost. A crash right after leaves them ready.
--@include native/repair

return repair(function()
  return redis.call('ZCARD', keys.offered)
end, function(id)
  return redis.call('ZSCORE', keys.offered, id)
end)
