#!lua flags=allow-oom
-- Makes messages ready that are kept but are in no state, as damage from outside may leave them. What was offered here and no
-- consumer has taken yet is where Redisson keeps it, and none of these.
--
-- KEYS 1 messages  2 delayed  3 ready  4 claims  5 dead  6 wake  7 paused  8 offered
-- ARGV 1 cursor of the answer before, empty: this is the first look, which ends at once if all messages are accounted for
--      2 how many messages to look at, roughly; a small hash is looked at as a whole
-- Returns the next cursor (empty: the look is over, or the line of ready messages is too long for one), then the ids of the
--      messages that are ready now.
--
-- Atomic so that a message on its way from one state to another is not taken for lost. A crash right after leaves them ready.
--@include native/permission
--@include native/held
--@include native/holders
--@include native/ring
--@include native/repair

local keys = {
  messages = KEYS[1], delayed = KEYS[2], ready = KEYS[3], claims = KEYS[4], dead = KEYS[5], wake = KEYS[6], paused = KEYS[7],
}
local offered = KEYS[8]
local cursor, size = ARGV[1], ARGV[2]

local ready = redis.call('LLEN', keys.ready)
if ready > MOST_READY or (cursor == '' and is_sound(keys, ready, redis.call('ZCARD', offered))) then
  return { '' }
end
return repair(keys, cursor == '' and '0' or cursor, size, function(id)
  return redis.call('ZSCORE', offered, id)
end)
