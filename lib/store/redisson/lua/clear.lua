#!lua flags=allow-oom
-- Removes every message in every state, whoever offered it.
--
-- KEYS 1 timeouts  2 entries  3 target  4 offered  5 values  6 messages  7 claims  8 attempts  9 errors  10 delayed
--      11 leases  12 dead  13 ready  14 wake  15 mover
-- ARGV 1 deadline in ms, 0: none
-- Returns how many messages were removed.
--
-- Atomic so that no part of a message stays behind. Keys are unlinked: the server frees them in the background, however
-- large they are. A crash right after leaves the queue empty.
--@include native/clock
--@include native/deadline

local timeouts, entries, target, offered, values, messages, claims, attempts, errors = unpack(KEYS)
local delayed, leases, dead, ready, wake, mover = unpack(KEYS, 10)

check_deadline(tonumber(ARGV[1]), (read_clock()))
for _, key in ipairs({ claims, attempts, errors }) do redis.call('HLEN', key) end
for _, key in ipairs({ delayed, leases, dead, values }) do redis.call('ZCARD', key) end
for _, key in ipairs({ entries, ready, wake }) do redis.call('LLEN', key) end
redis.call('GET', mover)
-- Of the messages with a record, those that were offered here are counted where their entry or their value is.
local count = redis.call('ZCARD', timeouts) + redis.call('LLEN', target)
  + redis.call('HLEN', messages) - redis.call('ZCARD', offered)
redis.call('UNLINK', unpack(KEYS))
return count
