#!lua flags=allow-oom
-- Moves what is due from delayed to ready, and takes back active messages whose lease has expired.
--
-- KEYS delayed ready claims leases attempts messages dead errors wake paused rate followers
--@with lanes --      lanes line held awaited
-- ARGV teller: text, as in transfer-and-claim
--      limit: number, maximum number of messages to move, and of messages to take back (1-1000)
--      max_attempts: number, attempts that a message has
--      max_dead: number, maximum number of dead letters
--      lease_error: text, error of a dead letter whose lease expired, JSON
--      rate: text, as in claim
--@with lanes --      lanes: text, as in include/lanes.lua
-- Returns moved, recovered (ready again), ids of the buried (dead now, or followed by another message), dropped (oldest dead letters), more (0 or 1), ready messages,
--      now in microseconds, next instant in ms at which there is work (-1: none is known).
--
-- Atomic so that a message is never in two states and never in none, and so that ready messages always have a token at the
-- doorbell. A crash right after leaves the messages ready, with the token waiting for the next consumer.
--@include clock
--@include transfer

local now, now_micros = read_clock()
return transfer_reply(execute_transfer(now, plan_transfer(now, now_micros)), now_micros)
