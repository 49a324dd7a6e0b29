-- Lists the messages of a group with their states, in steps through all messages that have groups.
--
-- KEYS messages delayed dead claims
-- ARGV group: text
--      cursor: text, from the previous call, empty: the first step
--      size: number, roughly how many messages to examine; a small hash is examined as a whole
--      most: number, maximum number of messages to list, 0: those of the first bucket of the hash, however many
-- Returns the next cursor (empty: this was the last step), then for each message of the group: id, state. More than `most` are listed only
--      if all are in the first bucket.
--
-- A step ends early once it has read 1 MiB of records.
--
-- Atomic so that a step shows one instant. Writes nothing.

-- Returns a group's ids in one bucket, the number of messages in the bucket, and the size of their records in bytes.
local function read_bucket(part, group)
  local ids, bytes = {}, 0
  for at = 1, #part, 2 do
    bytes = bytes + #part[at + 1]
    if Record.group(part[at + 1]) == group then
      ids[#ids + 1] = part[at]
    end
  end
  return ids, #part / 2, bytes
end

local function run(keys, args)
  local messages, delayed, dead, claims = keys[1], keys[2], keys[3], keys[4]
  local group, cursor, size, most = args[1], args[2], tonumber(args[3]), tonumber(args[4])
  local found, examined, bytes, holders = {}, 0, 0, nil
  cursor = cursor == '' and '0' or cursor
  repeat
    -- One bucket at a time, because records are as large as their payloads.
    local following, part = unpack(call('HSCAN', messages, cursor, 'COUNT', 1))
    local ids, count, length = read_bucket(part, group)
    if #found > 0 and #found + #ids > most then
      break
    end
    for _, id in ipairs(ids) do
      found[#found + 1] = id
    end
    cursor, examined, bytes = following, examined + count, bytes + length
  until cursor == '0' or #found >= most or examined >= size or bytes >= Pages.MAX_BYTES

  local reply = { cursor == '0' and '' or cursor }
  for _, id in ipairs(found) do
    local state = call('ZSCORE', delayed, Record.member(id, group)) and 'delayed' or call('ZSCORE', dead, id) and 'dead'
    if not state then
      holders = holders or Claims.holders(claims)
      state = holders[id] and 'active' or 'ready'
    end
    reply[#reply + 1], reply[#reply + 2] = id, state
  end
  return reply
end

register('group', { 'no-writes' }, run)
