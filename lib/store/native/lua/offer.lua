#!lua
-- Stores new messages. Where all ids are free and there is no maximum, offer-new does it for less.
--
-- KEYS delayed messages ready claims leases attempts dead errors partitions
-- ARGV deadline: number, instant in ms, 0: none
--      channel: text, of announcements
--      publish: text, the command for them, PUBLISH or in a cluster SPUBLISH
--      max_messages: number, maximum number of messages in the partition, 0: no limit, -1: offers create none
--      partitioning: text, by which the caller has chosen this partition (agree.lua); empty: it has only this one
--      ...: for each offer: id, due ('+' and a delay, or '@' and an instant, in ms), on duplicate ('keep', 'replace' or 'reject';
--        'replace', a space and the longest wait in ms), body
-- Returns for each offer its due in ms (0: there is none); then, for each offer that did not create a message, its position
--      (from 1) and outcome: 'kept', 'replaced', 'rejected' or 'full'.
--
-- Atomic because an id must be looked up and taken in one step, and because a due time that is stored but not announced
-- would be noticed late. A crash right after leaves the messages stored; a lost announcement costs a check interval.
-- If memory is short, the server refuses this script before it starts.
--@include clock
--@include check-partitioning
--@include permission
--@include record
--@include lowest
--@include announce
--@include offers
--@include take-out

local now, now_micros = read_clock()
check_deadline(args.deadline, now)
check_partitioning()
local earliest_before = lowest(keys.delayed)
local room = math.huge
if args.max_messages ~= 0 then
  room = args.max_messages - redis.call('HLEN', keys.messages)
end

-- When the chain of offers began that goes on if this message is replaced: it does while the message is delayed.
local function chain_began(record, id)
  return redis.call('ZSCORE', keys.delayed, id) and is_record(record) and record_offered(record)
end

local receipts, scores, sources, replaced, earliest, began =
  decide_offers(read_offers(4), room, now_micros, record_due, chain_began)
if #scores == 0 then
  return receipts
end

local records = {}
for i, at in ipairs(sources) do
  records[2 * i - 1], records[2 * i] = ARGV[at], pack_record(scores[2 * i - 1], began[i] or now, ARGV[at + 3])
end
if #replaced > 0 then
  check_take_out()
end
check_permissions('ZADD', keys.delayed, 'HSET', keys.messages)
announce(args.publish, args.channel, earliest_before, earliest, now)

for _, id in ipairs(replaced) do
  take_out(id)
end
redis.call('ZADD', keys.delayed, unpack(scores))
redis.call('HSET', keys.messages, unpack(records))
return receipts
