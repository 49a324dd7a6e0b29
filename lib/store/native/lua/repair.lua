#!lua flags=allow-oom
-- Finds messages that are stored but in no state, as damage from outside may leave them, and makes them ready.
--
-- KEYS messages delayed ready claims dead wake paused
-- ARGV cursor: text, from the previous call, empty: a new search, which ends at once if all messages are accounted for
--      size: number, roughly how many messages to examine; a small hash is examined as a whole
-- Returns the next cursor (empty: the search is over, or there are too many ready messages to search), then the ids of the
--      messages that are ready now.
--
-- Atomic so that a message on its way from one state to another is not mistaken for lost. A crash right after leaves them ready.
--@include repair

return repair()
