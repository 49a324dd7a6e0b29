#!lua
-- Stores new messages. Where all ids are free and there is no maximum, offer-new does it for less.
--
-- KEYS delayed messages ready claims leases attempts dead errors partitions followers
--@with lanes --      lanes line held wake paused
-- ARGV deadline: number, instant in ms, 0: none
--      channel: text, of announcements
--      database: text, of announcements: its number, or cluster, where they are sharded
--      max_messages: number, maximum number of messages in the partition, 0: no limit, -1: offers create none
--      partitioning: text, by which the caller has chosen this partition (agree.lua); empty: it has only this one
--@with lanes --      lanes: text, as in include/lanes.lua
--      ...: for each offer: id, due ('+' and a delay, or '@' and an instant, in ms), on duplicate ('keep', 'replace', 'reject',
--        'follow' or 'repeat'; 'replace', a space and the longest wait in ms), body
-- Returns for each offer its due in ms (0: there is none); then, for each offer that did not create a message, its position
--      (from 1) and outcome: 'kept', 'replaced', 'rejected', 'full', or 'followed': it is kept beside the active message of its id.
--
-- Atomic because an id must be looked up and taken in one step, and because a due time that is stored but not announced
-- would be noticed late. A crash right after leaves the messages stored; a lost announcement costs a check interval.
-- If memory is short, the server refuses this script before it starts.
--@include clock
--@include check-partitioning
--@include holders
--@include permission
--@include record
--@include lowest
--@include announce
--@include offers
--@include take-out
--@with lanes --@include bell
--@with lanes --@include groups
--@with lanes --@include lanes
--@with lanes --@include lines
--@with lanes --@include read-lanes
--@with lanes --@include equals

local now, now_micros = read_clock()

local function is_delayed(id)
  local member = id
  --@with lanes member = member_of(id, read_groups({ id })[1])
  return redis.call('ZSCORE', keys.delayed, member)
end

local function is_active(id)
  if is_delayed(id) or redis.call('ZSCORE', keys.dead, id) then
    return false
  end
  holders = holders or holders_of(keys.claims)
  return holders[id]
end

-- Of the offers that were kept, those with 'follow' whose message is active are followers instead: changes the reply, and returns the
-- followers by id, the last one for each. An offer sees the offers before it.
local function plan_followers(receipts)
  local last, is_new, list = {}, {}, {}
  local count = (#ARGV - FIRST + 1) / 4
  for at = count + 1, #receipts, 2 do
    local first = FIRST + (receipts[at] - 1) * 4
    local id = ARGV[first]
    if receipts[at + 1] == 'replaced' then
      is_new[id], last[id] = true, nil
    elseif receipts[at + 1] == 'kept' and ARGV[first + 2] == 'follow' and not is_new[id] and is_active(id) then
      receipts[at + 1], last[id] = 'followed', ARGV[first + 1] .. '\n' .. ARGV[first + 3]
    end
  end
  for id, text in pairs(last) do
    list[#list + 1], list[#list + 2] = id, text
  end
  return list
end

-- The messages that are due and get another body: id, record.
local rewritten = {}

-- What an offer of a message that repeats does if its id is in use: 'replace' if the present one is dead, or not due yet; 'keep' if it has
-- the same body, or is due, and gets this one; 'follow' if it is active; 'reject' if the instant has passed, because an occurrence of the
-- present one may have been that.
local function on_repeat(id, record, at)
  local body, due = ARGV[at + 3], tonumber(string.sub(ARGV[at + 1], 2))
  local _, set_aside = string.find(record, '^W%d+\n', 13)
  local follower = redis.call('HMGET', keys.followers, id)[1]
  local present = follower and string.match(follower, '\n(.*)$') or string.sub(record, (set_aside or 12) + 1)
  if redis.call('ZSCORE', keys.dead, id) then
    return 'replace'
  elseif present == body then
    return 'keep'
  elseif due <= now then
    return 'reject'
  elseif is_active(id) then
    return 'follow'
  elseif record_due(record) > now and is_delayed(id) and not redis.call('HGET', keys.attempts, id) then
    return 'replace'
  end
  rewritten[#rewritten + 1] = id
  rewritten[#rewritten + 1] = string.sub(record, 1, set_aside or 12) .. body
  return 'keep'
end

-- When the chain of offers began that goes on if this message is replaced: it does while the message is delayed.
local function chain_began(record, id)
  return is_delayed(id) and is_record(record) and record_offered(record)
end

--@with lanes -- Makes a member of each id, and keeps the order of offers. `scores`: as decide_offers returns them.
--@with lanes local function order_members(scores, sources)
--@with lanes   for i, at in ipairs(sources) do
--@with lanes     local group = group_at(ARGV[at + 3], 1)
--@with lanes     scores[2 * i - 1], scores[2 * i] = score_of(scores[2 * i - 1], group), member_of(ARGV[at], group)
--@with lanes   end
--@with lanes end

check_deadline(args.deadline, now)
check_partitioning()
local earliest_before = lowest(keys.delayed)
local room = math.huge
if args.max_messages ~= 0 then
  room = args.max_messages - redis.call('HLEN', keys.messages)
end
local receipts, scores, sources, replaced, earliest, began =
  decide_offers(read_offers(4), room, now_micros, record_due, chain_began, on_repeat)
local followers = plan_followers(receipts)
if #followers > 0 then
  redis.call('HLEN', keys.followers)
  check_permissions('HSET', keys.followers)
end
if #rewritten > 0 then
  check_permissions('HSET', keys.messages)
end
if #scores == 0 then
  if #rewritten > 0 then
    redis.call('HSET', keys.messages, unpack(rewritten))
  end
  if #followers > 0 then
    redis.call('HSET', keys.followers, unpack(followers))
  end
  return receipts
end

local records = {}
for i, at in ipairs(sources) do
  records[2 * i - 1], records[2 * i] = ARGV[at], pack_record(scores[2 * i - 1], began[i] or now, ARGV[at + 3])
end
if #replaced > 0 then
  check_take_out()
--@with lanes else
--@with lanes   check_lines()
end
--@with lanes check_bell()
--@with lanes read_lanes(replaced)
--@with lanes order_members(scores, sources)
check_permissions('ZADD', keys.delayed, 'HSET', keys.messages)
announce(args.database, args.channel, earliest_before, earliest, now)

for _, id in ipairs(replaced) do
  take_out(id)
end
if #followers > 0 then
  redis.call('HSET', keys.followers, unpack(followers))
end
if #rewritten > 0 then
  redis.call('HSET', keys.messages, unpack(rewritten))
end
redis.call('HSET', keys.messages, unpack(records))
redis.call('ZADD', keys.delayed, unpack(scores))
--@with lanes ring_for(store_lanes())
return receipts
