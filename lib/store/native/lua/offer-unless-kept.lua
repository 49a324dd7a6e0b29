-- Stores new messages as offer.lua does, except those whose ids are kept because messages with these ids have been handled.
-- The lists of keys and arguments that only some calls send are as in offer.lua.
--
-- KEYS kept delayed messages partitions
--      | ready claims leases attempts dead errors followers
--      | permits backlog held wake paused
-- ARGV kept_for: number, how long an id is kept, ms
--      deadline: text, instant in ms, 0: none
--      channel: text, for announcements
--      database: text, the database's number, or cluster, where announcements are sharded
--      partitioning: text, the one by which the caller chose this partition (agree.lua); empty: the queue has only this partition
--      | max_messages: number, maximum number of messages in the partition, 0: no limit, -1: offers create none
--      | groups: text, as in modules/groups.lua
--      ...: for each offer: as in offer.lua
-- Returns the reply of offer.lua. The outcome of an offer whose id is kept is 'handled', and its due time is when its message was handled.
--      Null if it needs the extra keys; then nothing was written.
--
-- Atomic so that no message with the id is handled between the look at the kept ids and the offer. A crash right afterwards leaves what it
-- leaves after offer.lua.

-- Returns the times at which the messages with kept ids were handled, by the position of their offers. Nil if no id is kept. `first`: the
-- position of the first offer in the arguments.
local function times_of_kept(kept, args, first, after)
  local ids, times = {}, nil
  for at = first, #args, 3 do
    ids[#ids + 1] = args[at]
  end
  for i, time in ipairs(call('ZMSCORE', kept, unpack(ids))) do
    if time and tonumber(time) > after then
      times = times or {}
      times[i] = tonumber(time)
    end
  end
  return times
end

-- Puts the outcomes of the offers whose ids are kept among those of the others, which are at the given places.
local function with_kept(reply, times, places, count)
  local receipts = {}
  for i = 1, count do
    receipts[i] = times[i] or 0
  end
  for i, place in ipairs(places) do
    receipts[place] = reply[i]
  end
  for at = #places + 1, #reply, 2 do
    receipts[#receipts + 1], receipts[#receipts + 2] = places[reply[at]], reply[at + 1]
  end
  for i in pairs(times) do
    receipts[#receipts + 1], receipts[#receipts + 2] = i, 'handled'
  end
  return receipts
end

-- Makes the offers whose ids are not kept. `make`: makes offers, given the arguments of offer.lua. If all ids are kept, nothing else is
-- checked: the answer is right whatever partitioning the caller knows.
local function make_unless_kept(kept, args, first, make)
  local kept_for = tonumber(args[1])
  local now = Clock.read()
  local times = times_of_kept(kept, args, first, now - kept_for)
  if not times then
    return make({ unpack(args, 2) })
  end
  local rest, places, count = { unpack(args, 2, first - 1) }, {}, 0
  for at = first, #args, 3 do
    count = count + 1
    if not times[count] then
      places[#places + 1] = count
      rest[#rest + 1], rest[#rest + 2], rest[#rest + 3] = args[at], args[at + 1], args[at + 2]
    end
  end
  local reply = {}
  if #places > 0 then
    reply = make(rest)
  end
  return reply and with_kept(type(reply) == 'table' and reply or { reply }, times, places, count)
end

local function short(keys, args)
  local kept = keys[1]
  return make_unless_kept(kept, args, 6, function(rest)
    return Offering.store_new({ unpack(keys, 2) }, rest)
  end)
end

local function run(keys, args)
  local q = {
    kept = keys[1], delayed = keys[2], messages = keys[3], partitions = keys[4], ready = keys[5], claims = keys[6], leases = keys[7],
    attempts = keys[8], dead = keys[9], errors = keys[10], followers = keys[11], permits = keys[12], backlog = keys[13], held = keys[14],
    wake = keys[15], paused = keys[16],
  }
  return make_unless_kept(q.kept, args, q.permits and 8 or 7, function(rest)
    return Offering.run(q, rest)
  end)
end

register('offer_unless_kept', {}, run, 4, short)
