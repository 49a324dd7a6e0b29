-- Moves what is due to the target list, like Redisson's transfer does; unreadable entries become dead letters. Then does what
-- the native transfer does for retries and expired leases.
--
-- KEYS timeouts entries target offered values repeated delayed ready claims leases attempts messages dead errors wake paused rate
--      followers
-- ARGV announcer: text, as in transfer of the native layout; so are the next five
--      limit: number
--      max_attempts: number
--      max_dead: number
--      lease_error: text
--      rate: text
--      unreadable_error: text, error of a dead letter that was an unreadable entry, JSON
--      read_on: number, position in the list of entries, as the last call returned it, 0 at first
-- Returns the same as transfer of the native layout, then the length of the target list, and the next `read_on`. Many messages that Java offered
--      take several calls, so a call may move none although `more` is set.
--
-- Atomic so that a message is never in two places and never in none, and so that there is a wake-up signal while messages
-- wait. Java's own transfer does the same to the same keys: the first one moves an entry, the other no longer sees it. A crash
-- right after leaves the messages ready, with the signal waiting for the next consumer.
local function run(keys, args)
  local q = {
    timeouts = keys[1], entries = keys[2], target = keys[3], offered = keys[4], values = keys[5], repeated = keys[6],
    delayed = keys[7], ready = keys[8], claims = keys[9], leases = keys[10], attempts = keys[11], messages = keys[12],
    dead = keys[13], errors = keys[14], wake = keys[15], paused = keys[16], rate = keys[17], followers = keys[18],
  }
  local request = Transfer.read_request(args, 1)
  local unreadable_error, read_on = args[7], tonumber(args[8])
  local now, now_micros = Clock.read()
  -- How many messages a call examines at most that Java may have taken.
  local EXAMINED = 100

  local first = call('ZRANGE', q.timeouts, 0, 0, 'WITHSCORES')
  local most = min(request.limit, first[1] and Locate.max_removable(q.entries, first[1], read_on) or huge)
  local found = Transfer.up_to_now(q.timeouts, tonumber(first[2]), now, most)
  local length = call('LLEN', q.target)
  call('LLEN', q.wake)
  local is_quiet = call('GET', q.paused) or Rate.is_awaited(q, request.rate, now_micros)
  local examined = min(#found > 0 and Taken.surely_taken(q) or EXAMINED, EXAMINED)
  Taken.check_forget(q)
  Dead.check(q)
  local native_plan = Transfer.plan(q, request, now, now_micros)
  local plan, gone = Locate.run(q.entries, found, read_on)

  local values, letters, records, causes = {}, {}, {}, {}, {}
  for _, entry in ipairs(gone) do
    local value = Entry.value(entry)
    if value then
      values[#values + 1] = value
    else
      local id = 'unreadable-' .. sha1hex(entry)
      letters[#letters + 1], letters[#letters + 2] = now, id
      records[#records + 1], records[#records + 2] = id, Record.pack(now, now, entry)
      causes[#causes + 1], causes[#causes + 2] = id, unreadable_error
    end
  end

  Permissions.check('RPUSH', q.wake)
  if #gone > 0 then
    Permissions.check('ZREM', q.timeouts, 'RPUSH', q.target)
    Unlist.check(q.entries)
  end
  if #letters > 0 then
    Permissions.check('ZADD', q.dead, 'HSET', q.messages, 'HSET', q.errors)
  end
  local report = Transfer.execute(q, request, now, native_plan)
  -- What is removed is stored before, so that a log that is torn between two writes has lost nothing.
  if #values > 0 then
    call('RPUSH', q.target, unpack(values))
    length = length + #values
  end
  if #letters > 0 then
    call('HSET', q.messages, unpack(records))
    call('HSET', q.errors, unpack(causes))
    call('ZADD', q.dead, unpack(letters))
  end
  if #gone > 0 then
    Unlist.run(q.entries, plan)
    call('ZREM', q.timeouts, unpack(gone))
  end
  if #letters > 0 then
    report.dropped = report.dropped + Dead.drop_oldest(q, request.max_dead)
  end
  if length > 0 and not is_quiet then
    Wake.signal(q.wake)
  end
  local is_cut_short = #gone < #found or #found == most
  if not is_cut_short then
    Taken.forget(q, examined)
  end

  report.moved = report.moved + #values
  report.more = report.more or is_cut_short
  report.ready = report.ready + length
  report.next_at = Scores.lower(Scores.lowest(q.timeouts), report.next_at)
  local reply = Transfer.reply(request, report, now_micros)
  reply[#reply + 1], reply[#reply + 2] = length, plan.read_on
  return reply
end

register('transfer', { 'allow-oom' }, run)
