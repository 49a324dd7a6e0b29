#!lua
-- Stores new messages, if all their ids are free. Otherwise it changes nothing, and the caller calls offer.
--
-- KEYS delayed messages partitions
-- ARGV deadline: text, as in offer
--      channel: text, as in offer
--      database: text, as in offer
--      partitioning: text, as in offer
--      ...: for each offer: id, due (as in offer), body
--@with lanes --        and its group, which the body names, too
-- Returns null if an id is in use; otherwise for each offer its due in ms.
--
-- Atomic for the reasons of offer, with the same consequences of a crash. It includes nothing: a part would cost more than all that
-- this script does for a single message.
--@with lanes --@include equals

local time = redis.call('TIME')
local now_micros = time[1] * 1000000 + time[2]
local now = (now_micros - now_micros % 1000) / 1000
-- As in include/clock.lua and include/check-partitioning.lua.
if args.deadline ~= '0' and now > tonumber(args.deadline) then
  error({ err = string.format('LATE %.0f the call arrived after its deadline; nothing was written', now) })
end
if args.partitioning ~= '' then
  local stored = redis.call('GET', keys.partitions) or '0 1'
  if stored ~= args.partitioning then
    error({ err = 'REPARTITIONED ' .. stored .. ', which is not the partitioning of the caller; nothing was written' })
  end
end

-- Rounded up, as in instant_in of include/clock.lua.
local soonest = now_micros > now * 1000 and now + 1 or now
local id, earliest, earliest_text, dues, scores, records = ARGV[FIRST], math.huge, nil, nil, nil, nil
local is_alone = not ARGV[FIRST + 3]
local arguments = 3
--@with lanes is_alone, arguments = false, 4
if is_alone then
  if redis.call('HEXISTS', keys.messages, id) == 1 then
    return false
  end
  local delay = tonumber(ARGV[FIRST + 1])
  dues = delay and soonest + delay or tonumber(string.sub(ARGV[FIRST + 1], 2))
  earliest, earliest_text = dues, string.format('%d', dues)
else
  local ids, known, last_due, last_text = {}, {}, nil, nil
  for at = FIRST, #ARGV, arguments do
    ids[#ids + 1] = ARGV[at]
  end
  for _, record in ipairs(redis.call('HMGET', keys.messages, unpack(ids))) do
    if record then
      return false
    end
  end
  dues, scores, records = {}, {}, {}
  for i, new in ipairs(ids) do
    if known[new] then
      return false
    end
    known[new] = true
    local at = FIRST + arguments * (i - 1)
    local delay = tonumber(ARGV[at + 1])
    local due = delay and soonest + delay or tonumber(string.sub(ARGV[at + 1], 2))
    local text = due == last_due and last_text or string.format('%d', due)
    last_due, last_text = due, text
    if due < earliest then
      earliest, earliest_text = due, text
    end
    dues[i], scores[2 * i - 1], scores[2 * i] = due, text, new
    --@with lanes -- As member_of of include/groups.lua.
    --@with lanes scores[2 * i - 1], scores[2 * i] = score_of(text, ARGV[at + 3]), ARGV[at + 3] .. '\n' .. new
    records[2 * i - 1], records[2 * i] = new, struct.pack('>I6I6', due, now) .. ARGV[at + 2]
  end
end

-- The first write proves by itself that it is permitted; offer tells of the permission that the second one lacks.
if not redis.acl_check_cmd('ZADD', keys.delayed, '0', '0') then
  return false
end
-- As in include/announce.lua.
if redis.call('ZCOUNT', keys.delayed, '-inf', earliest_text) == 0 then
  local text = string.format('%s %de-3 ', earliest_text, earliest > now and earliest * 1000 - now_micros or 0)
  if args.database ~= 'cluster' then
    redis.call('PUBLISH', args.channel, text .. args.database)
  elseif redis.call('SPUBLISH', args.channel, text .. '0') == 0 then
    redis.call('PUBLISH', args.channel, text .. '0')
  end
end
if scores then
  redis.call('HSET', keys.messages, unpack(records))
  redis.call('ZADD', keys.delayed, unpack(scores))
else
  redis.call('HSET', keys.messages, id, struct.pack('>I6I6', dues, now) .. ARGV[FIRST + 2])
  redis.call('ZADD', keys.delayed, earliest_text, id)
end
return dues
