-- Opens the lanes of messages of which only the ids are known.
--@include groups
--@include lanes

-- The groups of these messages. One record at a time, because each may be as large as a payload. If somebody has deleted the record, the
-- group is known only of a message that is held.
local function read_groups(ids)
  local groups = {}
  for i, id in ipairs(ids) do
    local record = redis.call('HGET', keys.messages, id)
    groups[i] = record and record_group(record) or redis.call('HGET', keys.held, id) or ''
  end
  return groups
end

-- Opens the lanes of these messages, unless that was done.
local function read_lanes(ids)
  local unread = {}
  for _, id in ipairs(ids) do
    if lane_of[id] == nil then
      unread[#unread + 1] = id
    end
  end
  open_lanes(unread, read_groups(unread))
end

-- What a message is called in `delayed`. Its lane was opened.
local function member_in_lane(id)
  return member_of(id, lane_of[id] and lane_of[id].group or '')
end
