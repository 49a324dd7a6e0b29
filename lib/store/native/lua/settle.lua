-- Settles claimed messages. A call with only the first five keys costs less, but needs the others unless all messages were handled, each
-- claim still holds its ids next to each other, and no message has a follower.
--
-- KEYS messages claims leases attempts followers
--      | delayed dead errors ready wake paused
--      | permits backlog held
-- ARGV | channel: text, for announcements
--      database: text, the database's number, or cluster, where announcements are sharded
--      max_dead: number, maximum number of dead letters
--      | groups: text, as in modules/groups.lua
--      count: number, of messages; the next `count` arguments are their groups, each empty if the caller does not know it
--      ...: for each run of messages with the same claim and outcome: token of the claim; how many messages, and unless they were handled,
--        after a space, the outcome ('retry', 'defer', 'again', 'release', 'dead', 'spent', 'next' or 'deadnext'), a space and its detail
--        (release: empty; retry, defer and again: delay in ms, or '@' and an instant; dead and spent: error, JSON in one line; then, for a
--        new body, a line feed and that body); their ids. 'spent' means dead, but the last attempt was counted when its lease expired.
--        For a message that repeats, 'next' means handled, with the detail '@' and the instant of the next occurrence, in ms ('-': there is
--        none), which ':' and the number of occurrences that are over may follow; 'deadnext' means dead, with the same detail, a space, its
--        failed attempts, a space, the error, a line feed, and the id of the dead letter
-- Returns dropped (oldest dead letters), then the position (from 1, among all ids) of each message that its claim no longer held: nothing
--      was changed for it. Null if it needs the extra keys; then nothing was written.
--
-- A follower of a message that is handled or dead takes its place in the same step. Without a follower, a message that repeats comes again,
-- unless cancel has removed its rule since. If it has been paused since, it has no due time until it is resumed (pause-repeat.lua).
--
-- Atomic so that fencing and the outcome are one step: a consumer that has lost its lease can change nothing. A crash right afterwards
-- leaves the outcomes in force; after a crash right before, the leases expire.

local function short(keys, args)
  return Settling.acknowledge(keys, args, 1)
end

local function run(keys, args)
  return Settling.run({
    messages = keys[1], claims = keys[2], leases = keys[3], attempts = keys[4], followers = keys[5], delayed = keys[6], dead = keys[7],
    errors = keys[8], ready = keys[9], wake = keys[10], paused = keys[11], permits = keys[12], backlog = keys[13], held = keys[14],
  }, keys, args)
end

register('settle', { 'allow-oom' }, run, 5, short)
