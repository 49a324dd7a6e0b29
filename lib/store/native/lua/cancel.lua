#!lua flags=allow-oom
-- Removes a message that is still delayed.
--
-- KEYS 1 delayed  2 messages  3 attempts
-- ARGV 1 deadline in ms, 0: none
--      2 id
-- Returns 1 if it was removed, 0 if it is not delayed (any more).
--
-- Atomic so that of cancel, reschedule and transfer exactly one wins. A crash right after leaves the message gone.
--@include clock
--@include deadline
--@include permission

local delayed, messages, attempts = unpack(KEYS)
local deadline, id = tonumber(ARGV[1]), ARGV[2]

check_deadline(deadline, (read_clock()))
redis.call('HLEN', messages)
redis.call('HLEN', attempts)
check_permissions('ZREM', delayed, 'HDEL', messages, 'HDEL', attempts)
if redis.call('ZREM', delayed, id) == 0 then
  return 0
end
redis.call('HDEL', messages, id)
redis.call('HDEL', attempts, id)
return 1
