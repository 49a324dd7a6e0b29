-- Lists the groups that have permits in use, in steps. A group without any has no backlog either.
--
-- KEYS permits backlog
-- ARGV cursor: text, from the previous call, empty: the first step
--      size: number, roughly how many groups to examine; a small hash is examined as a whole
-- Returns the number of all such groups, the next cursor (empty: this was the last step), then for each group: its name, how many messages
--      wait in its backlog, how many of its permits are taken. A group may be listed by several steps.
--
-- Atomic so that a step shows one instant. Writes nothing.

local function run(keys, args)
  local permits, backlog = keys[1], keys[2]
  local cursor, size = args[1], args[2]
  local following, part = unpack(call('HSCAN', permits, cursor == '' and '0' or cursor, 'COUNT', size))
  local total = call('HLEN', permits) - (call('HGET', permits, Groups.ANY_WIDE) and 1 or 0)
  local reply = { total, following == '0' and '' or following }
  for at = 1, #part, 2 do
    local name = part[at]
    if name ~= Groups.ANY_WIDE then
      local last = #reply
      reply[last + 1], reply[last + 2] = name, call('LLEN', backlog .. name)
      reply[last + 3] = Groups.taken(part[at + 1])
    end
  end
  return reply
end

register('list_groups', { 'no-writes' }, run)
