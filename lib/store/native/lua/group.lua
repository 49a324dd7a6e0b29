#!lua flags=no-writes
-- Lists the messages of a group with their states, page by page, in the order of their ids.
--
-- KEYS members delayed dead claims
-- ARGV group: text
--      behind: text, id of the last message on the page before; empty: the first page
--      limit: number, maximum number of messages (1-1000)
-- Returns for each message: id, state.
--
-- Atomic so that a page shows one instant. Writes nothing.
--@include holders

local first = '(' .. args.group .. '\n' .. args.behind
local ids = redis.call('ZRANGE', keys.members, first, '(' .. args.group .. '\11', 'BYLEX', 'LIMIT', 0, args.limit)
local holders = #ids > 0 and holders_of(keys.claims)
local reply = {}
for _, member in ipairs(ids) do
  local id = string.sub(member, #args.group + 2)
  local state = redis.call('ZSCORE', keys.delayed, id) and 'delayed' or redis.call('ZSCORE', keys.dead, id) and 'dead'
    or holders[id] and 'active' or 'ready'
  reply[#reply + 1], reply[#reply + 2] = id, state
end
return reply
