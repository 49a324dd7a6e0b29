#!lua flags=no-writes
-- Checks which commands the user may run.
--
-- ARGV ...: for each command: its name, then the key or channel, empty if it has none
-- Returns the position (from 1) of each command that the user may not run, or that the server does not have;
--   the error NOACLCHECK if the server cannot tell.
--
-- The keys are among the arguments, because the server would refuse a script with a key in KEYS that the user may not access.
-- None of the commands is run, so nothing needs to be atomic, and a crash leaves nothing behind. Writes nothing.
--@include may-run

local function may_run_any(command, key)
  if command == 'EVAL' or command == 'EVALSHA' then
    return redis.acl_check_cmd(command, '', '0')
  elseif command == 'BLMOVE' then
    return redis.acl_check_cmd(command, key, key, 'LEFT', 'LEFT', '0')
  elseif command == 'CLIENT|ID' then
    return redis.acl_check_cmd('CLIENT', 'ID')
  elseif command == 'CLIENT|UNBLOCK' then
    return redis.acl_check_cmd('CLIENT', 'UNBLOCK', '0')
  elseif command == 'WAIT' then
    return redis.acl_check_cmd(command, '0', '0')
  elseif command == 'WAITAOF' then
    return redis.acl_check_cmd(command, '0', '0', '0')
  elseif key == '' then
    return redis.acl_check_cmd(command)
  end
  return may_run(command, key)
end

-- Servers that are compatible with Redis may lack it, and would seem to refuse everything.
if not redis.acl_check_cmd then
  return redis.error_reply('NOACLCHECK redis.acl_check_cmd is missing')
end

local refused = {}
for at = FIRST, #ARGV, 2 do
  local is_known, is_allowed = pcall(may_run_any, ARGV[at], ARGV[at + 1])
  if not (is_known and is_allowed) then
    refused[#refused + 1] = (at - FIRST) / 2 + 1
  end
end
return refused
