-- The permissions of a call's user, which cannot change while the call runs.

-- Number of arguments that must follow the key in a complete command. Commands not listed need one.
local WORDS_AFTER_KEY = {
  DEL = 0, GET = 0, HGETALL = 0, HSET = 2, LINSERT = 3, LRANGE = 2, LREM = 2, LSET = 2, LTRIM = 2, ZADD = 2, ZRANGE = 2,
  ZREMRANGEBYRANK = 2,
}

-- True if the user may run a command on a key or channel. If a command has too few or too many arguments, Redis 8.6 raises an error, and
-- Redis 7.0 reads past the last argument and crashes. `words`: how many must follow the key, for a command not listed above.
function Permissions.may_run(command, key, words)
  words = words or WORDS_AFTER_KEY[command] or 1
  if words == 1 then
    return acl_check(command, key, '0')
  elseif words == 2 then
    return acl_check(command, key, '0', '0')
  elseif words == 0 then
    return acl_check(command, key)
  end
  return acl_check(command, key, '0', '0', '0')
end

-- Takes alternating commands and keys, and raises an error unless the user may run each command on its key. Called before the first write
-- with all commands to come: Redis does not roll back, so a call stopped between two writes would leave a message in two states or none.
function Permissions.check(...)
  local commands = { ... }
  for at = 1, #commands, 2 do
    local command, key = commands[at], commands[at + 1]
    if not Permissions.may_run(command, key) then
      error({ err = 'NOPERM this user has no permissions to run ' .. command .. ' on ' .. key .. '; nothing was written' })
    end
  end
end
