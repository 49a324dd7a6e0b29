#!lua flags=allow-oom
-- Finds messages that are stored but in no state, as damage from outside may leave them, and makes them ready, or
-- delayed again if they are not due yet. Before that it gives a lease to claims that have none, and releases followers that nobody will
-- release: those of messages that are dead or gone, because a process that does not know of followers has settled them.
--
-- KEYS messages delayed ready claims leases dead wake paused followers attempts errors
--@with lanes --      lanes line held
-- ARGV cursor: text, from the previous call, empty: a new search, which ends at once if all messages are accounted for;
--        'followers' and a cursor: goes on with these first
--      lease: number, of claims that have none, in ms: whoever holds one extends it, and without a holder it ends
--      size: number, roughly how many messages to examine; a small hash is examined as a whole
--      longest_delay: number, ms; what falls due still later was never delayed by this package
--      channel: text, of announcements
--      database: text, of announcements: its number, or cluster, where they are sharded
--@with lanes --      lanes: text, as in include/lanes.lua
-- Returns the next cursor (empty: the search is over, or there are too many ready messages to search), the ids of the messages
--      that are ready now, and of those that are delayed now.
--
-- Atomic so that a message on its way from one state to another is not mistaken for lost. A crash right after leaves them ready
-- and delayed; a lost announcement costs a check interval.
--@include clock
--@include permission
--@include record
--@include lowest
--@include announce
--@include holders
--@include bell
--@include set
--@include follower
--@with lanes --@include groups
--@with lanes --@include lanes
--@with lanes --@include lines
--@with lanes --@include read-lanes
--@with lanes --@include recount

-- With more ready messages than this, searching all of them for each part of the queue would take too long.
local MOST_READY = 10000

-- `elsewhere`: how many messages are ready that are not in the list of ready ids.
local function is_sound(ready, elsewhere)
  local known = redis.call('ZCARD', keys.delayed) + ready + elsewhere + count_active(keys.claims) + redis.call('ZCARD', keys.dead)
  return redis.call('HLEN', keys.messages) <= known
end

-- Releases what nobody else will, of one part of the followers. Returns the cursor of the next part.
local function release_abandoned(cursor)
  local next_cursor, part = unpack(redis.call('HSCAN', keys.followers, cursor, 'COUNT', args.size))
  local ids, dead = {}, {}
  for at = 1, #part, 2 do
    local id = part[at]
    local is_dead = redis.call('ZSCORE', keys.dead, id)
    if is_dead or redis.call('HEXISTS', keys.messages, id) == 0 then
      ids[#ids + 1] = id
    end
    if is_dead then
      dead[#dead + 1] = id
    end
  end
  local now, now_micros = read_clock()
  local release = plan_release(ids, now, now_micros)
  if release then
    redis.call('HLEN', keys.errors)
    check_permissions('ZREM', keys.dead, 'HDEL', keys.errors)
    announce(args.database, args.channel, lowest(keys.delayed), release.earliest, now)
    if #dead > 0 then
      redis.call('ZREM', keys.dead, unpack(dead))
      redis.call('HDEL', keys.errors, unpack(dead))
    end
    release_followers(release)
  end
  return next_cursor
end

-- When a lost message falls due: its record tells, and is changed with each delay. Nil if that is not in the future. A value of
-- somebody else, read as a record, is due in thousands of years: nobody should wait for it.
local function future_due(record, now)
  local due = record_due(record)
  return due > now and due - now <= args.longest_delay and due or nil
end

-- Of one part of the queue, the ids of messages in no state: those to make ready, and those to delay again, with their due
-- times, as they are called in `delayed`; and the cursor of the next part.
local function find_lost(now)
  local cursor = args.cursor == '' and '0' or args.cursor
  local next_cursor, part = unpack(redis.call('HSCAN', keys.messages, cursor, 'COUNT', args.size))
  local lost, ready, holders = { ready = {}, delayed = {}, dues = {} }, nil, nil
  for at = 1, #part, 2 do
    local id, member = part[at], part[at]
    --@with lanes member = member_of(id, record_group(part[at + 1]))
    if not redis.call('ZSCORE', keys.delayed, member) and not redis.call('ZSCORE', keys.dead, id) then
      ready = ready or set_of(redis.call('LRANGE', keys.ready, 0, -1))
      holders = holders or holders_of(keys.claims)
      local is_known = ready[id] or holders[id]
      --@with lanes is_known = is_known or waits_in_line(id)
      if not is_known then
        local due = future_due(part[at + 1], now)
        local ids = due and lost.delayed or lost.ready
        ids[#ids + 1], lost.dues[member] = id, due
        lost.earliest = lower_of(lost.earliest, due)
      end
    end
  end
  return lost, next_cursor
end

-- A claim without a lease would be held for ever. Returns whether there was one: it may hold messages that are gone, so counts tell nothing.
local function lease_claims()
  local leased, missing = set_of(redis.call('ZRANGE', keys.leases, 0, -1)), {}
  local claims = redis.call('HGETALL', keys.claims)
  for at = 1, #claims, 2 do
    if not leased[claims[at]] then
      missing[#missing + 1] = claims[at]
    end
  end
  if #missing == 0 then
    return false
  end
  local now, now_micros = read_clock()
  local ends = instant_in(args.lease, now_micros)
  check_permissions('ZADD', keys.leases)
  announce(args.database, args.channel, lowest(keys.delayed), ends, now)
  for _, token in ipairs(missing) do
    redis.call('ZADD', keys.leases, string.format('%.0f', ends), token)
  end
  return true
end

local function make_ready(ids)
  for _, id in ipairs(ids) do
    redis.call('RPUSH', keys.ready, id)
  end
  ring_for(#ids)
end

local of_followers = args.cursor == '' and '0' or string.match(args.cursor, '^followers (%d+)$')
if of_followers then
  local next_cursor = release_abandoned(of_followers)
  if next_cursor ~= '0' then
    return { 'followers ' .. next_cursor, {}, {} }
  end
  args.cursor = ''
end
local has_leased = args.cursor == '' and lease_claims()
local ready, elsewhere = redis.call('LLEN', keys.ready), 0
--@with lanes if ready + redis.call('HLEN', keys.lanes) > MOST_READY then
--@with lanes   return { '', {}, {} }
--@with lanes end
--@with lanes check_lines()
--@with lanes check_bell()
--@with lanes local are_lanes_sound
--@with lanes elsewhere, are_lanes_sound = look_at_lanes(ready, count_active(keys.claims))
--@with lanes if not are_lanes_sound then
--@with lanes   recount_lanes()
--@with lanes   ring_for(store_lanes())
--@with lanes end
if ready + elsewhere > MOST_READY or (args.cursor == '' and not has_leased and is_sound(ready, elsewhere)) then
  return { '', {}, {} }
end
local now = read_clock()
local lost, next_cursor = find_lost(now)
if #lost.ready > 0 then
  check_permissions('RPUSH', keys.ready)
  check_bell()
end
if #lost.delayed > 0 then
  check_permissions('ZADD', keys.delayed)
  announce(args.database, args.channel, lowest(keys.delayed), lost.earliest, now)
end
--@with lanes local found = lost.ready
--@with lanes local groups = read_groups(found)
--@with lanes lost.ready = join_lines(found, groups, read_texts(groups))
make_ready(lost.ready)
--@with lanes lost.ready = found
--@with lanes ring_for(store_lanes())
for member, due in pairs(lost.dues) do
  redis.call('ZADD', keys.delayed, due, member)
end
return { next_cursor == '0' and '' or next_cursor, lost.ready, lost.delayed }
