-- Changes a group's own settings: pauses or resumes it, or sets its number of permits.
--
-- KEYS ready paused wake permits backlog held
-- ARGV deadline: text, instant in ms, 0: none
--      group: text
--      paused: text, 1: pause, 0: resume, empty: keep
--      most: text, its number of permits (0: no limit), '-': as other groups, empty: keep
--      groups: text, as in modules/groups.lua
-- Returns 1.
--
-- Messages that are ready become part of the backlog when a claim meets them (modules/groups.lua).
--
-- Atomic so that a message that may now become ready does, with a wake-up signal. A crash right afterwards leaves the settings in force.
local function run(keys, args)
  local q = { ready = keys[1], paused = keys[2], wake = keys[3], permits = keys[4], backlog = keys[5], held = keys[6] }
  local deadline, group, paused, most, groups = args[1], args[2], args[3], args[4], args[5]
  Groups.begin(q, groups)
  Clock.check(deadline, (Clock.read()))
  Groups.check(q)
  Wake.check(q)
  Permissions.check('HSET', q.backlog, 'HDEL', q.backlog)
  local before = call('HGET', q.backlog, group) or ' '
  local own_before, paused_before = match(before, '^(%d*) (%a*)$')
  local own = most == '' and own_before or most == '-' and '' or most
  local is_paused = paused == '1' or paused == '' and paused_before == 'paused'
  local settings = own .. ' ' .. (is_paused and 'paused' or '')
  if settings == before then
    return 1
  end
  local state = Groups.state(q, group, Groups.texts(q, { group })[1])
  if settings == ' ' then
    call('HDEL', q.backlog, group)
  else
    call('HSET', q.backlog, group, settings)
  end
  q.groups.settings = Groups.mark_settings(q) and {} or nil
  Groups.apply(q, state, settings ~= ' ' and settings)
  state.is_changed = true
  Wake.signal_ready(q, Groups.store(q))
  return 1
end

register('set_group', { 'allow-oom' }, run)
