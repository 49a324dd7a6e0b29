#!lua flags=allow-oom
-- Finds messages that are stored but in no state, as damage from outside may leave them, and makes them ready, or
-- delayed again if they are not due yet.
--
-- KEYS messages delayed ready claims dead wake paused
-- ARGV cursor: text, from the previous call, empty: a new search, which ends at once if all messages are accounted for
--      size: number, roughly how many messages to examine; a small hash is examined as a whole
--      longest_delay: number, ms; what falls due still later was never delayed by this package
--      channel: text, of announcements
--      publish: text, the command for them, PUBLISH or in a cluster SPUBLISH
-- Returns the next cursor (empty: the search is over, or there are too many ready messages to search), the ids of the messages
--      that are ready now, and of those that are delayed now.
--
-- Atomic so that a message on its way from one state to another is not mistaken for lost. A crash right after leaves them ready
-- and delayed; a lost announcement costs a check interval.
--@include repair

return repair()
