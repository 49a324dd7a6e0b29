-- Takes ready messages under a lease.
--
-- KEYS ready claims leases messages attempts wake paused rate ended:token ended:supersedes
--      | permits backlog held awaited
--      | delayed rates
-- ARGV deadline: text, instant in ms, 0: none
--      token: text, of this claim; a token that has already taken messages takes no more
--      supersedes: text, token of the claim that this one replaces, empty: none. That claim takes nothing more; if it holds messages,
--        this one gets only those
--      limit: number, maximum number of messages to take (0-1000); 0 releases what the superseded claim holds
--      max_bytes: number, maximum size of the records to take, in bytes, 0: no limit; one record is taken whatever its size
--      lease: number, in ms
--      rate: text, '<maximum number of messages to claim> <within how many ms>'; empty: no limit
--      | groups: text, as in modules/groups.lua
--      | group_rate: text, as in modules/group-rate.lua
--      ...: if the queue limits its active messages: the limit, as in modules/claims.lua
-- Returns more (0 or 1: whether ready messages remain that can be claimed now), now in microseconds, the microseconds after which the
--      caller must claim again because the rate is spent (-1: it need not), the failed attempts of the messages taken, separated by spaces
--      (empty: no message of the queue has failed); then each message: id, record (null: the id had no message, and is removed).
--
-- Atomic so that a message leaves ready only into a lease: there is no moment at which a crash could lose it. A crash right afterwards
-- costs the messages their lease and an attempt.
local function run(keys, args)
  local q = {
    ready = keys[1], claims = keys[2], leases = keys[3], messages = keys[4], attempts = keys[5], wake = keys[6], paused = keys[7],
    rate = keys[8], ended_token = keys[9], ended_supersedes = keys[10], permits = keys[11], backlog = keys[12], held = keys[13],
    awaited = keys[14], delayed = keys[15], rates = keys[16],
  }
  local deadline, groups, group_rate = args[1], args[8], args[9]
  local request = Take.read_request(args, 2)
  request.active = args[q.rates and 10 or q.permits and 9 or 8]
  if q.permits then
    Groups.begin(q, groups)
  end
  if q.rates then
    GroupRate.begin(q, group_rate)
  end
  local now, micros = Clock.read()
  Clock.check(deadline, now)
  return Take.run(q, request, micros, Rate.read(q, request.rate, micros), 0)
end

register('claim', { 'allow-oom' }, run)
