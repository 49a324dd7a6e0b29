-- Stores a process's report in place of its previous one, and drops up to 100 reports that are no longer valid, the oldest first.
--
-- KEYS workers seen reports
-- ARGV id: text, of the process
--      report: text, at most a few KiB
--      valid: number, how long a report is valid, ms
-- Returns 1.
--
-- Atomic so that the three keys have the same ids, and a report that has just been renewed is not dropped. A crash right afterwards leaves
-- the report until it is no longer valid.
local MAX_DROPPED = 100

local function run(keys, args)
  local workers, seen, reports = keys[1], keys[2], keys[3]
  local id, report, valid = args[1], args[2], tonumber(args[3])
  local now = Clock.read()
  call('ZADD', seen, now, id)
  call('ZADD', workers, 0, id)
  call('HSET', reports, id, report)
  local old = call('ZRANGE', seen, '-inf', now - valid, 'BYSCORE', 'LIMIT', 0, MAX_DROPPED)
  if #old > 0 then
    call('ZREM', seen, unpack(old))
    call('ZREM', workers, unpack(old))
    call('HDEL', reports, unpack(old))
  end
  return 1
end

register('report_worker', { 'allow-oom' }, run)
