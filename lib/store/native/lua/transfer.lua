#!lua flags=allow-oom
-- Moves what is due from delayed to ready, and takes back what is active on an expired lease.
--
-- KEYS delayed ready claims leases attempts messages dead errors wake mover paused
-- ARGV scheduler: text, who asks
--      limit: number, most messages to move, and most leases to take back (1-1000)
--      max_attempts: number, attempts a message has
--      max_dead: number, most dead letters
--      lease_error: text, error of a dead letter whose lease expired, JSON
-- Returns moved, recovered (ready again), buried (dead now), dropped (oldest dead letters), more (0 or 1), ready messages,
--      now in microseconds, next instant in ms at which there is work (-1: none is known), last mover as
--      '<scheduler> <ms>' (empty: none is known).
--
-- Atomic so that a message is never in two states and never in none, and so that ready messages always have a token at the
-- doorbell. A crash right after leaves them ready, with the token waiting for the next consumer.
--@include clock
--@include transfer

local now, now_micros = read_clock()
return transfer_reply(execute_transfer(now, plan_transfer(now)), now_micros)
