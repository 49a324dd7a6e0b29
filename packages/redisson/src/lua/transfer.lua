#!lua flags=allow-oom
-- Moves what is due to the target list, like Redisson's transfer does; unreadable entries become dead letters. Then does what
-- the native transfer does for retries and expired leases.
--
-- KEYS timeouts entries target offered values repeated delayed ready claims leases attempts messages dead errors wake paused rate
--      followers
-- ARGV as native/transfer
--      unreadable_error: text, error of a dead letter that was an unreadable entry, JSON
--      read_on: number, position in the list of entries, as the last call returned it, 0 at first
-- Returns the same as native/transfer, then the length of the target list, and the next `read_on`. Many messages that Java offered
--      take several calls, so a call may move none although `more` is set.
--
-- Atomic so that a message is never in two places and never in none, and so that there is a token at the doorbell while messages
-- wait. Java's own transfer does the same to the same keys: the first one moves an entry, the other no longer sees it. A crash
-- right after leaves the messages ready, with the token waiting for the next consumer.
--@include native/clock
--@include native/permission
--@include native/record
--@include native/lowest
--@include native/ring
--@include native/dead
--@include native/transfer
--@include entry
--@include taken
--@include locate
--@include unlist

local now, now_micros = read_clock()
-- How many messages a call examines at most that Java may have taken.
local EXAMINED = 100

local first = redis.call('ZRANGE', keys.timeouts, 0, 0, 'WITHSCORES')
local most = math.min(args.limit, first[1] and most_removable(keys.entries, first[1], args.read_on) or math.huge)
local found = up_to_now(keys.timeouts, tonumber(first[2]), now, most)
local length = redis.call('LLEN', keys.target)
redis.call('LLEN', keys.wake)
local is_quiet = redis.call('GET', keys.paused) or is_rate_awaited(now_micros)
local examined = math.min(#found > 0 and surely_taken() or EXAMINED, EXAMINED)
check_forget_taken()
check_dead()
local native_plan = plan_transfer(now, now_micros)
local plan, gone = locate(keys.entries, found, args.read_on)

local values, letters, records, causes = {}, {}, {}, {}, {}
for _, entry in ipairs(gone) do
  local value = entry_value(entry)
  if value then
    values[#values + 1] = value
  else
    local id = 'unreadable-' .. redis.sha1hex(entry)
    letters[#letters + 1], letters[#letters + 2] = now, id
    records[#records + 1], records[#records + 2] = id, pack_record(now, now, entry)
    causes[#causes + 1], causes[#causes + 2] = id, args.unreadable_error
  end
end

check_permissions('RPUSH', keys.wake)
if #gone > 0 then
  check_permissions('ZREM', keys.timeouts, 'RPUSH', keys.target)
  check_unlist(keys.entries)
end
if #letters > 0 then
  check_permissions('ZADD', keys.dead, 'HSET', keys.messages, 'HSET', keys.errors)
end
local report = execute_transfer(now, native_plan)
-- What is removed is stored before, so that a log that is torn between two writes has lost nothing.
if #values > 0 then
  redis.call('RPUSH', keys.target, unpack(values))
  length = length + #values
end
if #letters > 0 then
  redis.call('HSET', keys.messages, unpack(records))
  redis.call('HSET', keys.errors, unpack(causes))
  redis.call('ZADD', keys.dead, unpack(letters))
end
if #gone > 0 then
  unlist(keys.entries, plan)
  redis.call('ZREM', keys.timeouts, unpack(gone))
end
if #letters > 0 then
  report.dropped = report.dropped + drop_oldest_dead(args.max_dead)
end
if length > 0 and not is_quiet then
  ring(keys.wake)
end
local is_cut_short = #gone < #found or #found == most
if not is_cut_short then
  forget_taken(examined)
end

report.moved = report.moved + #values
report.more = report.more or is_cut_short
report.ready = report.ready + length
report.next_at = lower_of(lowest(keys.timeouts), report.next_at)
local reply = transfer_reply(report, now_micros)
reply[#reply + 1], reply[#reply + 2] = length, plan.read_on
return reply
