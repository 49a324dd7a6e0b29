#!lua flags=allow-oom
-- Removes every message in every state.
--
-- KEYS messages claims attempts errors delayed leases dead ready wake followers
--@with lanes --      groups lanes lines members held
-- ARGV deadline: number, instant in ms, 0: none
-- Returns how many messages were removed.
--
-- Atomic so that no part of a message stays behind. Keys are unlinked: the server frees them in the background, however
-- large they are. A crash right after leaves the queue empty.
--@include clock

check_deadline(args.deadline, (read_clock()))
for _, key in ipairs({ keys.claims, keys.attempts, keys.errors, keys.followers }) do redis.call('HLEN', key) end
for _, key in ipairs({ keys.delayed, keys.leases, keys.dead }) do redis.call('ZCARD', key) end
for _, key in ipairs({ keys.ready, keys.wake }) do redis.call('LLEN', key) end
--@with lanes for _, key in ipairs({ keys.groups, keys.lanes, keys.lines, keys.held }) do redis.call('HLEN', key) end
--@with lanes redis.call('ZCARD', keys.members)
local count = redis.call('HLEN', keys.messages)
redis.call('UNLINK', unpack(KEYS))
return count
