#!lua flags=allow-oom
-- Moves what is due from delayed to ready, and takes back what is active on an expired lease.
--
-- KEYS 1 delayed  2 ready  3 claims  4 leases  5 attempts  6 messages  7 dead  8 errors  9 wake  10 mover
--      11 paused
-- ARGV 1 scheduler that asks
--      2 most messages to move, and most leases to take back (1-1000)
--      3 attempts a message has
--      4 most dead letters
--      5 error of a dead letter whose lease expired, JSON
-- Returns moved, recovered (ready again), buried (dead now), dropped (oldest dead letters), more (0 or 1), ready messages,
--      now in microseconds, next instant in ms at which there is work (-1: none is known), last mover as
--      '<scheduler> <ms>' (empty: none is known).
--
-- Atomic so that a message is never in two states and never in none, and so that ready messages always have a token at the
-- doorbell. A crash right after leaves them ready, with the token waiting for the next consumer.
--@include clock
--@include permission
--@include ring
--@include dead
--@include held
--@include transfer

local keys = {
  delayed = KEYS[1], ready = KEYS[2], claims = KEYS[3], leases = KEYS[4], attempts = KEYS[5], messages = KEYS[6],
  dead = KEYS[7], errors = KEYS[8], wake = KEYS[9], mover = KEYS[10], paused = KEYS[11],
}
local now, now_micros = read_clock()
local request = {
  scheduler = ARGV[1], limit = tonumber(ARGV[2]), max_attempts = tonumber(ARGV[3]), max_dead = tonumber(ARGV[4]),
  lease_error = ARGV[5], now = now,
}

local report = execute_transfer(keys, request, plan_transfer(keys, request))
return {
  report.moved, report.recovered, report.buried, report.dropped, report.more and 1 or 0, report.ready, now_micros,
  report.next_at or -1, report.last_move,
}
