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

-- The cursors of steps through `permits` are numbers; those of steps through the settings, which come afterwards, begin with this letter.
local OF_SETTINGS = 's'

local function run(keys, args)
  local permits, backlog = keys[1], keys[2]
  local cursor, size = args[1], args[2]
  local is_of_settings = sub(cursor, 1, 1) == OF_SETTINGS
  local at_cursor = is_of_settings and sub(cursor, 2) or cursor == '' and '0' or cursor
  local following, part = unpack(call('HSCAN', is_of_settings and backlog or permits, at_cursor, 'COUNT', size))
  local total = call('HLEN', permits) - (call('HGET', permits, Groups.ANY_WIDE) and 1 or 0)
  if following ~= '0' then
    following = (is_of_settings and OF_SETTINGS or '') .. following
  else
    following = not is_of_settings and call('EXISTS', backlog) > 0 and OF_SETTINGS .. '0' or ''
  end
  local reply = { total, following }
  for at = 1, #part, 2 do
    local name = part[at]
    if name ~= Groups.ANY_WIDE then
      local last, text = #reply, part[at + 1]
      if is_of_settings then
        text = call('HGET', permits, name)
      end
      reply[last + 1], reply[last + 2] = name, call('LLEN', backlog .. name)
      reply[last + 3] = (Groups.taken(text))
      reply[last + 4] = call('HGET', backlog, name) or ''
    end
  end
  return reply
end

register('list_groups', { 'no-writes' }, run)
