#!lua flags=no-writes
-- Lists dead letters, oldest first.
--
-- KEYS dead messages attempts errors
-- ARGV after_time: text, time in ms of the last letter of the previous page, empty: this is the first page
--      after_id: text, id of that letter
--      limit: number, maximum number of letters (1-1000)
-- Returns more (0 or 1), then for each letter: id, time in ms, failed attempts, record, error (JSON).
--
-- Atomic so that a letter and its message are seen together. Writes nothing.

local first = 0
if args.after_time ~= '' then
  local rank = redis.call('ZRANK', keys.dead, args.after_id)
  if rank and tonumber(redis.call('ZSCORE', keys.dead, args.after_id)) == tonumber(args.after_time) then
    first = rank + 1
  else
    -- That letter is gone: continue with its millisecond, so that a letter may be listed twice but none is left out.
    first = redis.call('ZCOUNT', keys.dead, '-inf', '(' .. args.after_time)
  end
end

local rows = redis.call('ZRANGE', keys.dead, first, first + args.limit - 1, 'WITHSCORES')
local reply = { first + args.limit < redis.call('ZCARD', keys.dead) and 1 or 0 }
if #rows == 0 then
  return reply
end
local ids = {}
for at = 1, #rows, 2 do
  ids[#ids + 1] = rows[at]
end
local records = redis.call('HMGET', keys.messages, unpack(ids))
local failed = redis.call('HMGET', keys.attempts, unpack(ids))
local causes = redis.call('HMGET', keys.errors, unpack(ids))
for i, id in ipairs(ids) do
  local at = #reply
  reply[at + 1], reply[at + 2], reply[at + 3] = id, tonumber(rows[i * 2]), tonumber(failed[i] or 0) or 0
  reply[at + 4], reply[at + 5] = records[i], causes[i]
end
return reply
