-- Which message is in which group: the first lines of its body name it. In `delayed`, a message is a member: its group, a line feed and its
-- id, none of which contains another line feed. So a transfer knows the group without the record, which may be as large as a payload.

-- The group that is named from this byte of a record or a body on, '' for none. Behind an instant if the message was set aside.
local function group_at(text, at)
  local wrapped
  repeat
    wrapped = select(2, string.find(text, '^W%d+\n', at))
    at = wrapped and wrapped + 1 or at
  until not wrapped
  return string.match(text, '^Ngroup\n([^\n]+)\n', at) or ''
end

-- '' also if there is no record.
local function record_group(record)
  return record and group_at(record, 13) or ''
end

-- What a message is called in `delayed`. Those without a group, which somebody else has left, are called by their ids.
local function member_of(id, group)
  return group == '' and id or group .. '\n' .. id
end

-- The ids and the groups of these members.
local function read_members(members)
  -- Filled like this, they do not have to grow.
  local ids, groups, find, sub = { unpack(members) }, { unpack(members) }, string.find, string.sub
  for i = 1, #members do
    local member = members[i]
    local feed = find(member, '\n', 1, true)
    if feed then
      ids[i], groups[i] = sub(member, feed + 1), sub(member, 1, feed - 1)
    else
      groups[i] = ''
    end
  end
  return ids, groups
end
