#!lua flags=allow-oom
-- Takes ready messages under a lease.
--
-- KEYS 1 ready  2 claims  3 leases  4 messages  5 attempts  6 wake  7 paused
-- ARGV 1 token of this claim
--      2 most messages to take (0-1000); 0 only rings for those that are ready
--      3 lease in ms
--      4 1 if the answer to a claim of this token got lost, else 0: what it took is answered with, if it took anything
-- Returns more (0 or 1: whether ready messages remain); then, if any were taken, all of them in one string, each as: length of
--      the id (2 bytes, big-endian), failed attempts (4), length of the record (4; 0 if the queue lost it: the id was ready
--      without a message, and is dropped), id, record.
--
-- Atomic so that a message leaves ready only into a lease: there is no moment at which a crash could lose it. A crash right
-- after costs the messages their lease and an attempt.
--@include clock
--@include record
--@include held
--@include claim

local ready, claims, leases, messages, attempts, wake, paused = unpack(KEYS)
local token, limit, lease, repeated = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4] == '1'

return claim_ready(
  { ready = ready, claims = claims, leases = leases, messages = messages, attempts = attempts, wake = wake, paused = paused },
  { token = token, limit = limit, lease = lease, repeated = repeated, elsewhere = 0 }
)
