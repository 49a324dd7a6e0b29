#!lua flags=allow-oom
-- Removes a message that is still delayed.
--
-- KEYS 1 delayed  2 messages  3 attempts
-- ARGV 1 id
-- Returns 1 if it was removed, 0 if it is not delayed (any more).
--
-- Atomic so that of cancel, reschedule and transfer exactly one wins. A crash right after leaves the message gone.

local delayed, messages, attempts = unpack(KEYS)
local id = ARGV[1]

redis.call('HLEN', messages)
redis.call('HLEN', attempts)
if redis.call('ZREM', delayed, id) == 0 then
  return 0
end
redis.call('HDEL', messages, id)
redis.call('HDEL', attempts, id)
return 1
