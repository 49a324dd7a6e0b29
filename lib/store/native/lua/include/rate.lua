-- Keeps claims within the queue's rate: no more than so many messages in any window of so many ms.
--
-- A bucket counts the messages of all claims within a 32nd of the window, and counts as a whole until a window after the last of
-- them. So no window ever has too many, a saturated queue still reaches 32/33 of its rate, and neither the size of the key nor the
-- cost of a claim grows with the number of claims.
--
-- The key holds the instant before which the waiting consumer will not claim (is_rate_awaited in transfer.lua) and the beginning of the last
-- bucket, 7 bytes each; then, for each bucket, oldest first, the instant of its last claim (7 bytes) and its messages (4). Instants
-- are big-endian microseconds.

-- Returns nil if the queue has no rate; otherwise `room`, which is how many more messages may be claimed now, and functions. All
-- of it is inside this function, because a script creates its functions and constants anew in each call.
local function read_rate(now_micros)
  if args.rate == '' then
    return nil
  end
  local buckets_per_window, header_bytes, bucket_bytes = 32, 14, 11
  local max, per = string.match(args.rate, '^(%d+) (%d+)$')
  local window = per * 1000
  local rate = {}
  local buckets, claimed, began, awaited = '', 0, 0, 0

  local text = redis.call('GET', keys.rate) or ''
  --@with lanes -- All messages of the queue count together, but who waits for those without groups claims none of these.
  --@with lanes local awaited_by_others
  -- Any other length was written by somebody else.
  if #text > header_bytes and (#text - header_bytes) % bucket_bytes == 0 then
    awaited, began = struct.unpack('>I7I7', text)
    local first, newest = #text + 1, #text - bucket_bytes + 1
    for at = newest, header_bytes + 1, -bucket_bytes do
      local last, count = struct.unpack('>I7I4', text, at)
      if last + window <= now_micros then
        break
      end
      first, claimed = at, claimed + count
    end
    buckets = string.sub(text, first)
    if struct.unpack('>I7', text, newest) > now_micros then
      -- The clock was set back: as if everything had been claimed just now.
      buckets, began = struct.pack('>I7I4', now_micros, claimed), now_micros
    end
  end
  rate.room = math.max(0, max - claimed)
  --@with lanes awaited_by_others = awaited
  --@with lanes local own = redis.call('GET', keys.awaited)
  --@with lanes awaited = own and #own == 7 and struct.unpack('>I7', own) or 0

  function rate.count(count)
    local before = 0
    if buckets ~= '' and now_micros < began + window / buckets_per_window then
      before = struct.unpack('>I4', buckets, #buckets - 3)
      buckets = string.sub(buckets, 1, -bucket_bytes - 1)
    else
      began = now_micros
    end
    buckets = buckets .. struct.pack('>I7I4', now_micros, before + count)
    rate.room = rate.room - count
  end

  -- In how many microseconds the caller has to claim again, now that the rate is spent; -1 if another consumer is going to.
  function rate.await()
    -- At most a minute, so that clocks that run at different speeds hardly differ at its end.
    local wait = math.min(struct.unpack('>I7', buckets) + window - now_micros, 60000000)
    if now_micros < awaited and awaited <= now_micros + wait then
      return -1
    end
    -- The consumer may be back a little early, if its clock is fast; it must not be taken for a second one.
    awaited = now_micros + math.floor(wait * 0.999)
    return wait
  end

  -- The key outlives what it counts by a second, for the one who waits.
  function rate.store()
    --@with lanes if awaited > 0 then
    --@with lanes   redis.call('SET', keys.awaited, struct.pack('>I7', awaited), 'PX', 61000)
    --@with lanes end
    --@with lanes awaited = awaited_by_others
    redis.call('SET', keys.rate, struct.pack('>I7I7', awaited, began) .. buckets, 'PX', per + 1000)
  end

  return rate
end
