#!lua flags=allow-oom
-- Removes every message in every state, no matter who offered it.
--
-- KEYS timeouts entries target offered values repeated messages claims attempts errors delayed leases dead ready wake
-- ARGV as native/clear
-- Returns how many messages were removed.
--
-- Atomic so that no part of a message stays behind. Keys are unlinked: the server frees them in the background, however
-- large they are. A crash right after leaves the queue empty.
--@include native/clock

check_deadline(args.deadline, (read_clock()))
for _, key in ipairs({ keys.offered, keys.values, keys.claims, keys.attempts, keys.errors }) do redis.call('HLEN', key) end
for _, key in ipairs({ keys.delayed, keys.leases, keys.dead, keys.repeated }) do redis.call('ZCARD', key) end
for _, key in ipairs({ keys.entries, keys.ready, keys.wake }) do redis.call('LLEN', key) end
local count = redis.call('ZCARD', keys.timeouts) + redis.call('LLEN', keys.target) + redis.call('HLEN', keys.messages)
redis.call('UNLINK', unpack(KEYS))
return count
