-- Checks which commands the user may run.
--
-- ARGV ...: for each command: its name, then the key or channel, empty if it has none
-- Returns the position (from 1) of each command that the user may not run or the server does not have; NOACLCHECK if it cannot tell.
--
-- The keys are among the arguments, because the server would refuse a call with a key that the user may not access. None of the commands is
-- run, so nothing needs to be atomic, and a crash leaves nothing behind. Writes nothing.

-- The arguments to check for a command that has no key, or may have several.
local WORDS = {
  EVAL = { '', '0' }, EVALSHA = { '', '0' }, FCALL = { '', '0' }, ['FUNCTION|LOAD'] = { 'FUNCTION', 'LOAD', '' },
  ['CLIENT|ID'] = { 'CLIENT', 'ID' }, ['CLIENT|UNBLOCK'] = { 'CLIENT', 'UNBLOCK', '0' }, WAIT = { '0', '0' }, WAITAOF = { '0', '0', '0' },
}

-- Number of arguments that must follow the key, for commands that only read or that a function calls without a check.
local WORDS_AFTER_KEY = {
  EXISTS = 0, HKEYS = 0, HLEN = 0, HSETNX = 2, LLEN = 0, PSUBSCRIBE = 0, SSUBSCRIBE = 0, SUBSCRIBE = 0, UNLINK = 0, ZCARD = 0,
  ZCOUNT = 2, ZREVRANGEBYSCORE = 2,
}

local function may_run(command, key)
  local words = WORDS[command]
  if command == 'BLMOVE' then
    return acl_check(command, key, key, 'LEFT', 'LEFT', '0')
  elseif find(command, '|', 1, true) then
    return acl_check(unpack(words))
  elseif words then
    return acl_check(command, unpack(words))
  elseif key == '' then
    return acl_check(command)
  end
  return Permissions.may_run(command, key, WORDS_AFTER_KEY[command])
end

local function run(_, args)
  -- Some servers compatible with Redis lack this function, and would seem to refuse everything.
  if not acl_check then
    return redis.error_reply('NOACLCHECK redis.acl_check_cmd is missing')
  end
  local refused = {}
  for at = 1, #args, 2 do
    local is_known, is_allowed = pcall(may_run, args[at], args[at + 1])
    if not (is_known and is_allowed) then
      refused[#refused + 1] = (at + 1) / 2
    end
  end
  return refused
end

register('check_permissions', { 'no-writes' }, run)
