-- What every script begins with.

-- The whole number that `text` says, where it lies between `least` and `most`; else nil.
-- Scripts do not roll back: numbers are checked before anything is written.
local function whole(text, least, most)
  local number = tonumber(text)
  if number and number == math.floor(number) and number >= least and number <= most then
    return number
  end
  return nil
end

local FOREVER = 1000000000000000 -- ms; and below 2^53, where Lua's numbers stop to be exact
local DAY = 86400000 -- ms

-- The lease to write: never less than what `key` has left. A question that comes in late must
-- not shorten what a later one was granted.
local function no_less(key, lease)
  return math.max(lease, redis.call('PTTL', key))
end

local function refuse(what)
  return redis.error_reply('ERR leasehold: ' .. what .. ' is not a number that can be')
end
