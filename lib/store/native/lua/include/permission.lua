--@include redis/may-run

-- Takes commands and keys in turn, and raises an error unless the user may run each command on its key. Called before the first
-- write, with everything that follows: Redis rolls nothing back, so a script that is stopped between two writes would leave a
-- message in two states, or in none. A user's permissions cannot change while a script runs.
local function check_permissions(...)
  local commands = { ... }
  for at = 1, #commands, 2 do
    local command, key = commands[at], commands[at + 1]
    if not may_run(command, key) then
      error({ err = 'NOPERM this user has no permissions to run ' .. command .. ' on ' .. key .. '; nothing was written' })
    end
  end
end
