#!lua flags=allow-oom
-- Removes every message in every state.
--
-- KEYS 1 messages  2 claims  3 attempts  4 errors  5 delayed  6 leases  7 dead  8 ready  9 wake
--      10 mover
-- ARGV 1 deadline in ms, 0: none
-- Returns how many messages were removed.
--
-- Atomic so that no part of a message stays behind. Keys are unlinked: the server frees them in the background, however
-- large they are. A crash right after leaves the queue empty.
--@include clock
--@include deadline

local messages, claims, attempts, errors, delayed, leases, dead, ready, wake, mover = unpack(KEYS)

check_deadline(tonumber(ARGV[1]), (read_clock()))
for _, key in ipairs({ claims, attempts, errors }) do redis.call('HLEN', key) end
for _, key in ipairs({ delayed, leases, dead }) do redis.call('ZCARD', key) end
for _, key in ipairs({ ready, wake }) do redis.call('LLEN', key) end
redis.call('GET', mover)
local count = redis.call('HLEN', messages)
redis.call('UNLINK', unpack(KEYS))
return count
