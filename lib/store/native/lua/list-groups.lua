-- Lists the groups that have permits in use, and those with settings of their own, in steps. No other group has a backlog.
--
-- KEYS permits backlog
-- ARGV cursor: text, from the previous call, empty: the first step
--      size: number, roughly how many groups to examine; a small hash is examined as a whole
-- Returns the number of groups that have permits in use, the next cursor (empty: this was the last step), then for each group: its name, how
--      many messages wait in its backlog, how many of its permits are taken, its settings as in modules/groups.lua (empty: none). A group
--      may be listed by several steps.
--
-- Atomic so that a step shows one instant. Writes nothing.

local function run(keys, args)
  local q = { permits = keys[1], backlog = keys[2] }
  local cursor, size = args[1], args[2]
  local following, names, texts = Groups.scan(q, cursor == '' and '0' or cursor, size)
  local total = call('HLEN', q.permits) - (call('HGET', q.permits, Groups.ANY_WIDE) and 1 or 0)
  local reply = { total, following }
  for i, name in ipairs(names) do
    local last = #reply
    reply[last + 1], reply[last + 2] = name, call('LLEN', q.backlog .. name)
    reply[last + 3] = (Groups.taken(texts[i]))
    reply[last + 4] = call('HGET', q.backlog, name) or ''
  end
  return reply
end

register('list_groups', { 'no-writes' }, run)
