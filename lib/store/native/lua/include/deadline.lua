-- Refuses a call that arrives after its caller gave up: by then the caller, or somebody else, may have done what this call
-- would undo. `deadline` is an instant by this server's clock in ms, 0 if the caller does not know that clock. A caller that is
-- refused while it still waits has an outdated estimate of the clock, so the refusal contains the time.
local function check_deadline(deadline, now)
  if deadline > 0 and now > deadline then
    error({ err = string.format('LATE %.0f the call arrived after its deadline; nothing was written', now) })
  end
end
