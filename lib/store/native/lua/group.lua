#!lua flags=no-writes
-- Lists the messages of a group with their states, in steps through all messages that have groups.
--
-- KEYS groups delayed dead claims
-- ARGV group: text
--      cursor: text, from the previous call, empty: the first step
--      size: number, roughly how many messages to examine; a small hash is examined as a whole
-- Returns the next cursor (empty: this was the last step), then for each message of the group: id, state.
--
-- Atomic so that a step shows one instant. Writes nothing.
--@include holders

local cursor = args.cursor == '' and '0' or args.cursor
local following, part = unpack(redis.call('HSCAN', keys.groups, cursor, 'COUNT', args.size))
local reply, group, holders = { following == '0' and '' or following }, args.group, nil
for at = 1, #part, 2 do
  local id = part[at]
  if part[at + 1] == group then
    holders = holders or holders_of(keys.claims)
    local state = redis.call('ZSCORE', keys.delayed, id) and 'delayed' or redis.call('ZSCORE', keys.dead, id) and 'dead'
      or holders[id] and 'active' or 'ready'
    reply[#reply + 1], reply[#reply + 2] = id, state
  end
end
return reply
