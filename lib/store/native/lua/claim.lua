#!lua flags=allow-oom
-- Takes ready messages under a lease.
--
-- KEYS 1 ready  2 claims  3 leases  4 messages  5 attempts  6 wake  7 paused  8 ended, of this token
--      9 ended, of the token in whose place this one comes, if there is one
-- ARGV 1 deadline in ms, 0: none
--      2 token of this claim; one that has taken already takes nothing
--      3 token of the claim in whose place this one comes, empty: none. What that one holds passes to this one, nothing else is
--        taken, and that one takes nothing any more
--      4 most messages to take (0-1000); 0 only rings for those that are ready
--      5 most bytes of records to take, 0: no limit; one record is taken whatever its size
--      6 lease in ms
-- Returns more (0 or 1: whether ready messages remain); then, if any were taken, all of them in one string, each as: length of
--      the id (2 bytes, big-endian), failed attempts (4), length of the record (4; 0 if the queue lost it: the id was ready
--      without a message, and is dropped), id, record.
--
-- Atomic so that a message leaves ready only into a lease: there is no moment at which a crash could lose it. A crash right
-- after costs the messages their lease and an attempt.
--@include clock
--@include deadline
--@include permission
--@include record
--@include held
--@include claim

local ready, claims, leases, messages, attempts, wake, paused = unpack(KEYS)

return claim_ready(
  {
    ready = ready, claims = claims, leases = leases, messages = messages, attempts = attempts, wake = wake, paused = paused,
    ended = KEYS[8], ended_now = KEYS[9],
  },
  read_claim_request(ARGV),
  0
)
