-- Fences: numbers that grow strictly with every grant of a name. max(last + 1, the clock
-- in us) also grows where the last one was forgotten, as long as clocks do not go back.

local LAST_FENCE = 9007199254740991 -- 2^53 - 1

-- Chooses the first of `count` new fences, before anything is written; nil where what is
-- stored is no fence.
local function next_fence(key, count)
  if count == 0 then
    return ''
  end
  local stored = redis.pcall('GET', key)
  if type(stored) == 'table' then
    if string.find(stored.err, 'WRONGTYPE', 1, true) then
      return nil
    end
    stored = redis.call('GET', key) -- which fails again, and says where
  end
  local last = whole(stored or '0', 0, LAST_FENCE - count)
  if not last then
    return nil
  end
  local time = redis.call('TIME')
  return string.format('%.0f', math.max(last + 1, time[1] * 1000000 + time[2]))
end

-- Stores `first` and the `count` - 1 that follow it as given.
local function give_fences(key, first, count, lease)
  if count > 0 then
    redis.call('SET', key, string.format('%.0f', first + count - 1), 'PX', lease + DAY)
  end
end

-- Raises what is stored to `fence`, where it is less; leaves alone what is no fence.
local function raise_fence(key, fence, lease)
  local last = redis.pcall('GET', key)
  if type(last) ~= 'table' then
    last = tonumber(last or '0') or 0
    redis.call('SET', key, string.format('%.0f', math.max(last, fence)), 'PX', lease + DAY)
  end
end
