--@include permission
--@include publish

-- Tells those who watch the queue of a transfer, so that they need not look themselves: "transfer <scheduler> <when it last moved
-- something, us> <ready messages> <now, us> <next instant in ms at which there is work>"; -1: never, or none is known.
-- args.teller: '<PUBLISH or SPUBLISH> <scheduler> <when it moved something before, us, -1: never> <channel>'; empty: tell nobody.
local teller = {}
teller.command, teller.scheduler, teller.moved_before, teller.channel =
  string.match(args.teller, '^(%u+) (%S+) (%S+) (.*)$')

-- Raises an error before the first write if the user may not tell.
local function check_tell()
  if teller.command then
    check_permissions(teller.command, teller.channel)
  end
end

local function tell(report, now_micros)
  if teller.command then
    local has_moved = report.moved + report.recovered + #report.buried > 0
    local moved_at = has_moved and string.format('%.0f', now_micros) or teller.moved_before
    publish(teller.command, teller.channel, string.format('transfer %s %s %d %.0f %.0f', teller.scheduler, moved_at,
      report.ready, now_micros, report.next_at or -1))
  end
end
