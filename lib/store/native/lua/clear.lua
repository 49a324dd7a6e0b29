-- Removes every message in every state, and what the queue remembers. Groups keep their own settings.
--
-- KEYS messages claims attempts errors delayed leases dead ready wake followers handled history
--      | permits backlog held
-- ARGV deadline: text, instant in ms, 0: none
-- Returns how many messages were removed.
--
-- Atomic so that no part of a message stays behind. The server frees the unlinked keys in the background, however large they are. A crash
-- right afterwards leaves the queue empty.

local function unlink_backlogs(backlog, groups)
  for first = 1, #groups, 1000 do
    local backlogs = {}
    for at = first, min(first + 999, #groups) do
      -- The key without a name holds the settings.
      backlogs[#backlogs + 1] = groups[at] ~= '' and backlog .. groups[at] or nil
    end
    if #backlogs > 0 then
      call('UNLINK', unpack(backlogs))
    end
  end
end

local function run(keys, args)
  local messages, claims, attempts, errors, delayed = keys[1], keys[2], keys[3], keys[4], keys[5]
  local leases, dead, ready, wake, followers = keys[6], keys[7], keys[8], keys[9], keys[10]
  local handled, history, permits, backlog, held = keys[11], keys[12], keys[13], keys[14], keys[15]
  local deadline = args[1]
  Clock.check(deadline, (Clock.read()))
  for _, key in ipairs({ claims, attempts, errors, followers, history, permits, held, backlog }) do call('HLEN', key) end
  for _, key in ipairs({ delayed, leases, dead, handled }) do call('ZCARD', key) end
  for _, key in ipairs({ ready, wake }) do call('LLEN', key) end
  local count = call('HLEN', messages)
  if permits then
    local has_settings = call('EXISTS', backlog) > 0
    Permissions.check('HSET', permits)
    unlink_backlogs(backlog, call('HKEYS', permits))
    unlink_backlogs(backlog, call('HKEYS', backlog))
    call('UNLINK', unpack(keys, 1, 13))
    call('UNLINK', held)
    if has_settings then
      call('HSET', permits, Groups.ANY_WIDE, Groups.ANY_SETTINGS)
    end
  else
    call('UNLINK', unpack(keys))
  end
  return count
end

register('clear', { 'allow-oom' }, run)
