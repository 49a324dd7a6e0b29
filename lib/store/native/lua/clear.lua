#!lua flags=allow-oom
-- Removes every message in every state.
--
-- KEYS messages claims attempts errors delayed leases dead ready wake followers
--@with lanes --      lanes line held
-- ARGV deadline: number, instant in ms, 0: none
-- Returns how many messages were removed.
--
-- Atomic so that no part of a message stays behind. Keys are unlinked: the server frees them in the background, however
-- large they are. A crash right after leaves the queue empty.
--@include clock

--@with lanes local function unlink_lines(groups)
--@with lanes   for first = 1, #groups, 1000 do
--@with lanes     local lines = {}
--@with lanes     for at = first, math.min(first + 999, #groups) do
--@with lanes       lines[#lines + 1] = keys.line .. groups[at]
--@with lanes     end
--@with lanes     redis.call('UNLINK', unpack(lines))
--@with lanes   end
--@with lanes end

check_deadline(args.deadline, (read_clock()))
for _, key in ipairs({ keys.claims, keys.attempts, keys.errors, keys.followers }) do redis.call('HLEN', key) end
for _, key in ipairs({ keys.delayed, keys.leases, keys.dead }) do redis.call('ZCARD', key) end
for _, key in ipairs({ keys.ready, keys.wake }) do redis.call('LLEN', key) end
--@with lanes for _, key in ipairs({ keys.lanes, keys.held }) do redis.call('HLEN', key) end
local count = redis.call('HLEN', keys.messages)
--@with lanes unlink_lines(redis.call('HKEYS', keys.lanes))
redis.call('UNLINK', unpack(KEYS))
return count
