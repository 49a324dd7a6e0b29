#!lua flags=no-writes
-- Checks which commands the user may run.
--
-- ARGV ...: for each command: how many words it has, then the words
-- Returns the position (from 1) of each command that the user may not run, or that the server does not have.
--
-- The keys are among the words, because the server would refuse a script with a key in KEYS that the user may not access.
-- None of the commands is run, so nothing needs to be atomic, and a crash leaves nothing behind. Writes nothing.

local refused = {}
local place, at = 0, FIRST
while at <= #ARGV do
  local last = at + tonumber(ARGV[at])
  place = place + 1
  local is_known, is_allowed = pcall(redis.acl_check_cmd, unpack(ARGV, at + 1, last))
  if not (is_known and is_allowed) then
    refused[#refused + 1] = place
  end
  at = last + 1
end
return refused
