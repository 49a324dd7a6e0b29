#!lua flags=allow-oom
-- Removes dead letters for good.
--
-- KEYS 1 dead  2 errors  3 messages  4 attempts
-- ARGV 1 deadline in ms, 0: none
--      2 'id' or 'oldest'
--      3 the id, or the most letters (1-1000)
-- Returns how many.
--
-- Atomic so that no part of a letter stays behind. A crash right after leaves them gone.
--@include clock
--@include deadline
--@include permission
--@include dead
--@include select-dead

local dead, errors, messages, attempts = unpack(KEYS)
local deadline, by, value = tonumber(ARGV[1]), ARGV[2], ARGV[3]

check_deadline(deadline, (read_clock()))
check_dead(dead, errors, messages, attempts)
local ids = select_dead(dead, by, value)
if #ids == 0 then
  return 0
end
redis.call('ZREM', dead, unpack(ids))
redis.call('HDEL', errors, unpack(ids))
redis.call('HDEL', messages, unpack(ids))
redis.call('HDEL', attempts, unpack(ids))
return #ids
