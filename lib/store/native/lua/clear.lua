-- Removes every message in every state.
--
-- KEYS messages claims attempts errors delayed leases dead ready wake followers
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
      backlogs[#backlogs + 1] = backlog .. groups[at]
    end
    call('UNLINK', unpack(backlogs))
  end
end

local function run(keys, args)
  local messages, claims, attempts, errors, delayed = keys[1], keys[2], keys[3], keys[4], keys[5]
  local leases, dead, ready, wake, followers = keys[6], keys[7], keys[8], keys[9], keys[10]
  local permits, backlog, held = keys[11], keys[12], keys[13]
  local deadline = args[1]
  Clock.check(deadline, (Clock.read()))
  for _, key in ipairs({ claims, attempts, errors, followers, permits, held }) do call('HLEN', key) end
  for _, key in ipairs({ delayed, leases, dead }) do call('ZCARD', key) end
  for _, key in ipairs({ ready, wake }) do call('LLEN', key) end
  local count = call('HLEN', messages)
  if permits then
    unlink_backlogs(backlog, call('HKEYS', permits))
  end
  call('UNLINK', unpack(keys))
  return count
end

register('clear', { 'allow-oom' }, run)
