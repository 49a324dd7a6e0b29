-- Lists the messages that have permits, with their groups, in steps: delayed ones that keep them for a retry, then active ones by claim, then
-- those in the list of ready ids.
--
-- KEYS held claims ready messages
-- ARGV cursor: text, from the previous call, empty: the first step
-- Returns the next cursor (empty: this was the last step), then for each message: id, group.
--
-- A step examines 250 messages, but ends once it has read 256 KiB of records. A claim is examined as a whole; it has at most 1000 messages.
-- A message that moves between steps may be missed or listed twice.
--
-- Atomic so that a step shows one instant. Writes nothing.

local SIZE, MAX_BYTES, READ_AT_ONCE = 250, 262144, 5

-- Appends these messages that have a group, until the step is full or, with `all`, to the end. Returns how many were examined.
local function append(step, messages, ids, all)
  local count = 0
  while count < #ids and (all or step.bytes < MAX_BYTES) do
    local last = min(count + READ_AT_ONCE, #ids)
    for i, record in ipairs(call('HMGET', messages, unpack(ids, count + 1, last))) do
      local group = Record.group(record)
      if group ~= '' then
        step.reply[#step.reply + 1], step.reply[#step.reply + 2] = ids[count + i], group
      end
      step.bytes = step.bytes + (record and #record or 0)
    end
    count = last
  end
  step.count = step.count + count
  return count
end

-- These functions append the messages of a state, and return the next cursor.

local function append_held(step, held, place)
  local following, part = unpack(call('HSCAN', held, place, 'COUNT', SIZE))
  for at = 1, #part, 2 do
    step.reply[#step.reply + 1], step.reply[#step.reply + 2] = part[at], part[at + 1]
  end
  return following == '0' and 'active:' or 'held:' .. following
end

local function append_active(step, messages, claims, last_token)
  local tokens, held = Claims.sorted(claims)
  for _, token in ipairs(tokens) do
    if token > last_token then
      append(step, messages, Ids.of(held[token]), true)
      if step.count >= SIZE or step.bytes >= MAX_BYTES then
        return 'active:' .. token
      end
    end
  end
  return 'ready:0'
end

local function append_ready(step, messages, ready, first)
  local ids = call('LRANGE', ready, first, first + SIZE - 1)
  local count = append(step, messages, ids)
  return count == #ids and count < SIZE and '' or 'ready:' .. first + count
end

local function run(keys, args)
  local held, claims, ready, messages = keys[1], keys[2], keys[3], keys[4]
  local state, place = match(args[1], '^(%a+):(.*)$')
  local step, cursor = { reply = { '' }, count = 0, bytes = 0 }, nil
  if state == 'active' then
    cursor = append_active(step, messages, claims, place)
  elseif state == 'ready' then
    cursor = append_ready(step, messages, ready, tonumber(place))
  else
    cursor = append_held(step, held, place or '0')
  end
  step.reply[1] = cursor
  return step.reply
end

register('list_holders', { 'no-writes' }, run)
