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

local function run(keys, args)
  local held, claims, ready, messages = keys[1], keys[2], keys[3], keys[4]
  local state, place = match(args[1], '^(%a+):(.*)$')
  local reply, step = { '' }, Pages.begin_step(messages)
  local size = step.messages_left
  local function append(record, id)
    local group = Record.group(record)
    if group ~= '' then
      reply[#reply + 1], reply[#reply + 2] = id, group
    end
  end
  if state == 'active' then
    local token = Pages.visit_claims(step, claims, place, append)
    reply[1] = token and 'active:' .. token or 'ready:0'
  elseif state == 'ready' then
    local ids = call('LRANGE', ready, place, place + size - 1)
    local count = Pages.visit(step, ids, append)
    reply[1] = count == #ids and count < size and '' or 'ready:' .. place + count
  else
    local following, part = unpack(call('HSCAN', held, place or '0', 'COUNT', size))
    for at = 1, #part, 2 do
      reply[#reply + 1], reply[#reply + 2] = part[at], part[at + 1]
    end
    reply[1] = following == '0' and 'active:' or 'held:' .. following
  end
  return reply
end

register('list_holders', { 'no-writes' }, run)
