#!lua flags=allow-oom
-- Makes dead letters due now, with all their attempts restored.
--
-- KEYS dead errors messages attempts delayed partitions
-- ARGV as native/discard
--      channel: text, of announcements
--      database: text, of announcements: its number, or cluster, where they are sharded
--      unwrap: text, '1' if bodies that tell when their messages first fell due lose that; empty: bodies stay as they are
-- Returns how many were redriven.
--
-- Atomic so that a letter is never in two states and never in none. A crash right after leaves the messages due; a lost
-- announcement costs a check interval.
--@include clock
--@include permission
--@include record
--@include lowest
--@include announce
--@include dead
--@include select-dead
--@with lanes --@include groups

-- As unwrapSetAside of lib/message/codec/body-forms.ts.
local function unwrapped(record)
  local last = args.unwrap == '1' and select(2, string.find(record, '^W%d+\n', 13))
  return last and with_body(record, string.sub(record, last + 1)) or record
end

local now = read_clock()
check_deadline(args.deadline, now)
check_dead()
local earliest_before = lowest(keys.delayed)
local ids = select_dead()
if #ids == 0 then
  return 0
end

local stored = redis.call('HMGET', keys.messages, unpack(ids))
local scores, records = {}, {}
for i, id in ipairs(ids) do
  if stored[i] then
    local member = id
    --@with lanes member = member_of(id, record_group(stored[i]))
    scores[#scores + 1], scores[#scores + 2] = now, member
    records[#records + 1], records[#records + 2] = id, with_due(unwrapped(stored[i]), now)
  end
end
if #scores > 0 then
  check_permissions('ZADD', keys.delayed, 'HSET', keys.messages)
  announce(args.database, args.channel, earliest_before, now, now)
end
redis.call('ZREM', keys.dead, unpack(ids))
redis.call('HDEL', keys.errors, unpack(ids))
redis.call('HDEL', keys.attempts, unpack(ids))
if #scores > 0 then
  redis.call('ZADD', keys.delayed, unpack(scores))
  redis.call('HSET', keys.messages, unpack(records))
end
return #scores / 2
