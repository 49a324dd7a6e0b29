-- Lists the processes with valid reports, in the order of their ids.
--
-- KEYS workers seen reports
-- ARGV after: text, the id after which the page begins, empty: the first page
--      limit: number, how many ids to examine, 1-1000
--      valid: number, how long a report is valid, ms
-- Returns the last examined id (empty: there are no more), then for each process: id, time of its report in ms, report.
--
-- A page ends early once it has read 1 MiB of reports.
--
-- Atomic so that each report is read with its time. Writes nothing.

local function run(keys, args)
  local workers, seen, reports = keys[1], keys[2], keys[3]
  local after, limit, valid = args[1], tonumber(args[2]), tonumber(args[3])
  local found = call('ZRANGE', workers, after == '' and '-' or '(' .. after, '+', 'BYLEX', 'LIMIT', 0, limit)
  local texts = Ids.read_within(#found, Pages.MAX_BYTES, function(first, last)
    return call('HMGET', reports, unpack(found, first, last))
  end)
  local is_last = #texts == #found and #found < limit
  local reply, now = { is_last and '' or found[#texts] }, (Clock.read())
  for place, text in ipairs(texts) do
    local time = tonumber(call('ZSCORE', seen, found[place]) or 0)
    -- A time far ahead is that of a process that ended before the clock was set back.
    if text and time > now - valid and time < now + valid then
      local last = #reply
      reply[last + 1], reply[last + 2], reply[last + 3] = found[place], time, text
    end
  end
  return reply
end

register('list_workers', { 'no-writes' }, run)
