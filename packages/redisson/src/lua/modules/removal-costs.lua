-- What a call may spend on removing entries from Redisson's list of entries, and what that allows.

-- The budget of a call, in nodes of the list that a walk passes, each of about 2 ns: at least so much, and with a long list as much as
-- the removal costs, which passes about half of its elements. Less would shorten the waits of other clients, but each call pays for
-- its pass, so fewer messages would get through.
local LEAST_BUDGET, REMOVAL_COST = 1000000, 8
-- What it costs to go to a position besides the walk, and to read an element.
local VISIT_COST, READ_COST = 1600, 333
-- Redis keeps so much of a list in a node. Entries are as large as their payloads.
local NODE_BYTES = 8192
-- How many bytes of entries a call may read.
RemovalCosts.READ_BYTES = 2097152
-- How many visits a search for an entry takes at least, its mark included.
local FEWEST_VISITS = 2

local function budget_of(size)
  return max(LEAST_BUDGET, REMOVAL_COST * size)
end

function RemovalCosts.max_read(size)
  return floor(budget_of(size) / READ_COST)
end

-- How often a call may go to a position of a list of this size, to find an entry or to mark it.
function RemovalCosts.max_visits(size, entry)
  local nodes = size * min(1, #entry / NODE_BYTES)
  return ceil(budget_of(size) / (VISIT_COST + nodes))
end

-- How many entries a call removes at most that are not at the ends of the list.
function RemovalCosts.max_removed(size, entry)
  return ceil(RemovalCosts.max_visits(size, entry) / FEWEST_VISITS)
end

-- Whether a call may read the whole list.
function RemovalCosts.is_short(size, entry)
  return size <= RemovalCosts.max_read(size) and size * #entry <= RemovalCosts.READ_BYTES
end
