-- Keeps claims within the queue's rate: at most so many messages in any window of so many ms.
--
-- A bucket holds the number of messages claimed within a 32nd of the window, and counts in full until one window after its last claim. So
-- no window has too many messages, a busy queue reaches 32/33 of its rate, and neither the key's size nor a claim's cost grows with use.
--
-- The key holds two times of 7 bytes: the earliest time at which the consumer that waits for the rate will claim, and the beginning of the
-- last bucket. The buckets follow, oldest first: the time of the last claim (7 bytes) and the number of messages (4). Times are
-- microseconds; all numbers are big-endian. Messages with and without groups count together, but different consumers claim them and wait
-- for the rate. So for messages with groups, the key `awaited` holds the first of the two times.
local BUCKETS, HEADER_BYTES, BUCKET_BYTES = 32, 14, 11

-- Returns the state of a rate, with `room`, the number of messages that may still be claimed now. `text`: from the key of the rate. `per`: in
-- ms.
function Rate.of(text, most, per, micros)
  local rate, claimed = { per = per, window = per * 1000, buckets = '', began = 0, awaited = 0 }, 0
  -- A value of any other length was not written by this package.
  if #text > HEADER_BYTES and (#text - HEADER_BYTES) % BUCKET_BYTES == 0 then
    rate.awaited, rate.began = unpack_bytes('>I7I7', text)
    local first, newest = #text + 1, #text - BUCKET_BYTES + 1
    for at = newest, HEADER_BYTES + 1, -BUCKET_BYTES do
      local last, count = unpack_bytes('>I7I4', text, at)
      if last + rate.window <= micros then
        break
      end
      first, claimed = at, claimed + count
    end
    rate.buckets = sub(text, first)
    if unpack_bytes('>I7', text, newest) > micros then
      -- The clock has been set back. Assumes that everything was claimed just now.
      rate.buckets, rate.began = pack('>I7I4', micros, claimed), micros
    end
  end
  rate.room = max(0, most - claimed)
  return rate
end

-- Returns nil if `rule` is empty, which means no rate; otherwise the state of the queue's rate. `rule`: '<messages> <within ms>'.
function Rate.read(q, rule, micros)
  if rule == '' then
    return nil
  end
  local most, per = match(rule, '^(%d+) (%d+)$')
  local rate = Rate.of(call('GET', q.rate) or '', tonumber(most), tonumber(per), micros)
  if q.groups then
    local awaited = call('GET', q.awaited)
    rate.awaited_by_others, rate.awaited = rate.awaited, awaited and #awaited == 7 and (unpack_bytes('>I7', awaited)) or 0
  end
  -- The rate was raised while a consumer waited for it, which no longer does.
  rate.is_wait_over = rate.room > 0 and rate.awaited > micros
  if rate.is_wait_over then
    rate.awaited = 0
  end
  return rate
end

function Rate.count(rate, count, micros)
  local before = 0
  if rate.buckets ~= '' and micros < rate.began + rate.window / BUCKETS then
    before = unpack_bytes('>I4', rate.buckets, #rate.buckets - 3)
    rate.buckets = sub(rate.buckets, 1, -BUCKET_BYTES - 1)
  else
    rate.began = micros
  end
  rate.buckets = rate.buckets .. pack('>I7I4', micros, before + count)
  rate.room = rate.room - count
end

-- Returns when a spent rate next allows a claim, in microseconds. If it has no claims yet, this call is about to make the first.
function Rate.opens_at(rate, micros)
  return (rate.buckets == '' and micros or unpack_bytes('>I7', rate.buckets)) + rate.window
end

-- Returns the microseconds after which the caller must claim again, now that the rate is spent; -1 if another consumer will.
function Rate.await(rate, micros)
  -- At most a minute, so that clocks that run at different speeds hardly differ at the end of the wait.
  local wait = min(Rate.opens_at(rate, micros) - micros, 60000000)
  if micros < rate.awaited and rate.awaited <= micros + wait then
    return -1
  end
  -- A waiting consumer with a fast clock returns a little early, and must not be mistaken for another one.
  rate.awaited = micros + floor(wait * 0.999)
  return wait
end

-- Stores the claims. The key is kept for a second longer than they count, because a waiting consumer reads it then. `awaited`: see above.
function Rate.store_claims(key, rate, awaited)
  call('SET', key, pack('>I7I7', awaited, rate.began) .. rate.buckets, 'PX', rate.per + 1000)
end

function Rate.store(q, rate)
  local awaited = rate.awaited
  if q.groups then
    if awaited > 0 or rate.is_wait_over then
      call('SET', q.awaited, pack('>I7', awaited), 'PX', 61000)
    end
    awaited = rate.awaited_by_others
  end
  Rate.store_claims(q.rate, rate, awaited)
end

-- True if a consumer waits for the rate, and will claim once it allows more (or up to 0.1 s later). Until then, waking others is useless.
function Rate.is_awaited(q, rule, micros)
  local text = rule ~= '' and call('GET', q.groups and q.awaited or q.rate)
  local awaited = text and #text >= 7 and unpack_bytes('>I7', text) or 0
  return micros < awaited + 100000 and awaited < micros + 60000000
end
