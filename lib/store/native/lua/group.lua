#!lua flags=no-writes
-- Lists the messages of a group with their states, in steps through all messages that have groups.
--
-- KEYS messages delayed dead claims
-- ARGV group: text
--      cursor: text, from the previous call, empty: the first step
--      size: number, roughly how many messages to examine; a small hash is examined as a whole
--      most: number, how many messages to list, 0: those of the first bucket of the hash, however many they are
-- Returns the next cursor (empty: this was the last step), then for each message of the group: id, state. They are more than `most` only if
--      they are all in the first bucket.
--
-- A step ends early once it has read 1 MiB of records.
--
-- Atomic so that a step shows one instant. Writes nothing.
--@include groups
--@include holders

local MOST_BYTES = 1048576

local group, holders = args.group, nil

local function state_of(id)
  if redis.call('ZSCORE', keys.delayed, member_of(id, group)) then
    return 'delayed'
  elseif redis.call('ZSCORE', keys.dead, id) then
    return 'dead'
  end
  holders = holders or holders_of(keys.claims)
  return holders[id] and 'active' or 'ready'
end

-- The ids of the group in one bucket, how many messages there are, and how many bytes they have.
local function read_bucket(part)
  local ids, bytes = {}, 0
  for at = 1, #part, 2 do
    bytes = bytes + #part[at + 1]
    if record_group(part[at + 1]) == group then
      ids[#ids + 1] = part[at]
    end
  end
  return ids, #part / 2, bytes
end

local cursor, found, examined, bytes = args.cursor == '' and '0' or args.cursor, {}, 0, 0
repeat
  -- One bucket at a time, because its records are as large as their payloads.
  local following, part = unpack(redis.call('HSCAN', keys.messages, cursor, 'COUNT', 1))
  local ids, messages, size = read_bucket(part)
  if #found > 0 and #found + #ids > args.most then
    break
  end
  for _, id in ipairs(ids) do
    found[#found + 1] = id
  end
  cursor, examined, bytes = following, examined + messages, bytes + size
until cursor == '0' or #found >= args.most or examined >= args.size or bytes >= MOST_BYTES

local reply = { cursor == '0' and '' or cursor }
for _, id in ipairs(found) do
  reply[#reply + 1], reply[#reply + 2] = id, state_of(id)
end
return reply
