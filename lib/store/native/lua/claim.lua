#!lua flags=allow-oom
-- Takes ready messages under a lease.
--
-- KEYS ready claims leases messages attempts wake paused rate
--@with lanes --      lanes line held awaited
--      ended:token [ended:instead_of] if the claim replaces another one
-- ARGV deadline: number, instant in ms, 0: none
--      token: text, of this claim; a token that has already taken messages takes no more
--      instead_of: text, token of the claim that this one replaces, empty: none. What that claim holds passes to this one,
--        nothing else is taken, and that claim takes nothing any more
--      limit: number, maximum number of messages to take (0-1000); 0 gives back what the other claim holds
--      max_bytes: number, maximum size of the records to take, in bytes, 0: no limit; one record is taken whatever its size
--      lease: number, in ms
--@with lanes --      lanes: text, as in include/lanes.lua
--      rate: text, maximum number of messages to claim, a space, and within how many ms; empty: no limit
-- Returns more (0 or 1: whether ready messages remain that can be claimed now), now in microseconds, in how many microseconds the
--      caller has to claim again because the rate is spent (-1: it has not), the failed attempts of the messages that were taken,
--      with spaces between them (empty: no message of the queue has failed); then each message: id, record (null: the id was
--      ready without a message, and is removed).
--
-- Atomic so that a message leaves ready only into a lease: there is no moment at which a crash could lose it. A crash right
-- after costs the messages their lease and an attempt.
--@include clock
--@include claim
--@include rate

local now, now_micros = read_clock()
check_deadline(args.deadline, now)
return claim_ready(now_micros, read_rate(now_micros), 0)
