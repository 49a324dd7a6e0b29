-- A record consists of the due time and the time of the offer, each as 48-bit big-endian milliseconds, and the body. The functions read
-- only the body's first lines, which `lib/message/codec` writes in this order, each only if it applies: 'W' and a time if the message was
-- put off; 'Ngroup' and the group; 'Nrepeat' and the rule; 'Nprogress' and the rule's progress; 'Nretry' and the attempts and backoff;
-- 'Nexpires' and the expiry; the type.

-- The due time of a paused message that repeats, in ms: later than any other.
Record.PAUSED_UNTIL = 253402300799999

function Record.pack(due, offered, body)
  return pack('>I6I6', due, offered) .. body
end

-- True if the value is long enough to be a record. A shorter one was written by somebody else.
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

-- Returns the position of the last byte of the put-off time in a record; 12 if the message was not put off.
function Record.wrapping_end(value)
  local _, last = find(value, '^W%d+\n', 13)
  return last or 12
end

-- Returns the progress of the rule that begins at byte `at` of `text`, empty if it has none, and the positions after which the progress
-- begins and ends; nil if no rule begins there. The progress is how many occurrences are over, 'paused', or both with a space between them.
function Record.progress_at(text, at)
  local _, rule_end = find(text, '^Nrepeat\n[^\n]*\n', at)
  if not rule_end then
    return nil
  end
  local _, last, progress = find(text, '^Nprogress\n([^\n]*)\n', rule_end + 1)
  return progress or '', rule_end, last or rule_end
end

-- Returns where the lines of the rule and its progress begin and end in a record; nil if the message does not repeat.
function Record.find_rule(value)
  local first = Record.wrapping_end(value) + 1
  local progress, _, last = Record.progress_at(value, first)
  if progress then
    return first, last
  end
  return nil
end

-- Returns `text` with another progress of the rule that begins at byte `at`; without a rule, `text` itself.
function Record.with_progress(text, at, progress)
  local known, rule_end, last = Record.progress_at(text, at)
  if not known or known == progress then
    return text
  end
  return sub(text, 1, rule_end) .. (progress == '' and '' or 'Nprogress\n' .. progress .. '\n') .. sub(text, last + 1)
end

-- True if the rule that begins at byte `at` of `text` is paused.
function Record.is_paused(text, at)
  local progress = Record.progress_at(text, at)
  return progress ~= nil and find(progress, 'paused', 1, true) ~= nil
end

-- Returns a progress with this count, a string, which may be empty.
function Record.progress(count, is_paused)
  return count .. (count ~= '' and is_paused and ' ' or '') .. (is_paused and 'paused' or '')
end

-- Returns `text` with the rule that begins at byte `at` paused, or not.
function Record.with_pause(text, at, is_paused)
  local known = Record.progress_at(text, at)
  return known and Record.with_progress(text, at, Record.progress(match(known, '^%d*'), is_paused)) or text
end

-- Returns the record without its rule, which ends at byte `last` (nil: no rule), and without the put-off time in front of the rule.
function Record.without_rule(value, last)
  return last and Record.with_body(value, sub(value, last + 1)) or value
end

-- Returns the position after all put-off times of a body that starts at byte `at` of `text`.
function Record.unwrapped_at(text, at)
  local _, last = find(text, '^W%d+\n', at)
  while last do
    at = last + 1
    _, last = find(text, '^W%d+\n', at)
  end
  return at
end

-- Returns the group of a body that starts at byte `at` of `text`; '' if it has none.
function Record.group_at(text, at)
  return match(text, '^Ngroup\n([^\n]+)\n', Record.unwrapped_at(text, at)) or ''
end

-- Returns the group of a record; '' if it has none or there is no record.
function Record.group(value)
  return value and Record.group_at(value, 13) or ''
end

-- Returns a message's own attempts; nil if its queue's apply. Does not look behind a rule, whose messages no script dead-letters.
-- Looks behind a progress without a rule, as versions leave it that do not know this form and end a repetition.
function Record.own_attempts(value)
  local at = Record.unwrapped_at(value, 13)
  for _, form in ipairs({ 'group', 'progress' }) do
    local _, last = find(value, '^N' .. form .. '\n[^\n]+\n', at)
    at = last and last + 1 or at
  end
  return tonumber(match(value, '^Nretry\n(%d+)', at))
end

-- Returns a message's member in `delayed`: its group, a line feed and its id, neither of which contains a line feed. So a transfer knows
-- the group without reading the record, which may be as large as a payload. The member of a message without a group is the id.
function Record.member(id, group)
  return group == '' and id or group .. '\n' .. id
end

-- Like Record.member, with the group read from the record. Without `has_groups`, the queue's messages have none.
function Record.member_of(id, record, has_groups)
  return has_groups and Record.member(id, Record.group(record)) or id
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
