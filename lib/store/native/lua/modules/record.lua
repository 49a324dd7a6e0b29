-- A record: due time and time of the offer as 48-bit big-endian milliseconds, then the body. Functions read only a body's first lines, in
-- this order: 'W' and a time if the message was put off; 'Ngroup' and its group; 'Nrepeat' and its rule; 'Nexpires'; its type.
-- `lib/message/codec` writes them.

function Record.pack(due, offered, body)
  return pack('>I6I6', due, offered) .. body
end

-- A shorter value was written by somebody else.
function Record.is(value)
  return value and #value >= 12
end

function Record.due(value)
  return Record.is(value) and (unpack_bytes('>I6', value)) or 0
end

-- Returns the due time of the first message in a list of ids; -1 if the list is empty.
function Record.oldest_due(list, messages)
  local id = call('LRANGE', list, '0', '0')[1]
  return id and Record.due(call('HGET', messages, id)) or -1
end

function Record.offered(value)
  return Record.is(value) and (unpack_bytes('>I6', value, 7)) or 0
end

function Record.with_due(value, due)
  return pack('>I6', due) .. sub(value, 7)
end

function Record.with_body(value, body)
  return sub(value, 1, 12) .. body
end

function Record.body(value)
  return sub(value, 13)
end

-- Returns the byte at which the put-off time in a record ends; 12 if the message was not put off.
function Record.wrapping_end(value)
  local _, last = find(value, '^W%d+\n', 13)
  return last or 12
end

-- Returns where the rule's lines begin and end in a record; nil if the message does not repeat.
function Record.find_rule(value)
  return find(value, '^Nrepeat\n[^\n]*\n', Record.wrapping_end(value) + 1)
end

-- Returns the record without the lines of its rule, which end at `last`.
function Record.without_rule(value, last)
  return last and Record.with_body(value, sub(value, last + 1)) or value
end

-- Returns the byte at which a body starting at `at` continues after all its put-off times.
function Record.unwrapped_at(text, at)
  local _, last = find(text, '^W%d+\n', at)
  while last do
    at = last + 1
    _, last = find(text, '^W%d+\n', at)
  end
  return at
end

-- Returns the group named by a record or body from byte `at` on; '' for none.
function Record.group_at(text, at)
  return match(text, '^Ngroup\n([^\n]+)\n', Record.unwrapped_at(text, at)) or ''
end

-- Returns the group of a record; '' if it has none or there is no record.
function Record.group(value)
  return value and Record.group_at(value, 13) or ''
end

-- Returns the member of `delayed` for a message: its group, a line feed and its id, neither of which contains a line feed. So a transfer
-- knows the group without the record, which may be as large as a payload. For a message without a group, the member is the id.
function Record.member(id, group)
  return group == '' and id or group .. '\n' .. id
end

-- Returns the ids and groups of these members of `delayed`.
function Record.read_members(members)
  local ids, groups = {}, {}
  for i = 1, #members do
    local group, id = match(members[i], '^([^\n]*)\n(.*)$')
    ids[i], groups[i] = id or members[i], group or ''
  end
  return ids, groups
end
