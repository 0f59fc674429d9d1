-- Time stamps beside the sign of whose they are.
-- The side key says: <ticket> <owner> <end by the server's clock, ms> <stamp>

local GRACE = 60000 -- ms that a key outlives its stamp: a clean-up, never a decision

local function server_ms()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

-- The hold of ours that the side key tells of: ticket, end, stamp, owner.
local function sign(key)
  local text = redis.call('GET', key)
  if not text then
    return nil
  end
  local ticket, owner, ends, stamp = string.match(text, '^(%S+) (%S+) (%d+) (.*)$')
  return ticket, tonumber(ends), stamp, owner
end

-- The ms that a stamp in units of `unit` ms says; nil where it is none.
local function stamp_ms(stamp, unit)
  if #stamp <= 15 and string.match(stamp, '^%d+$') then
    return tonumber(stamp) * unit
  end
  return nil
end

-- The stamp of an end in ms: never before it, and `slack` units later.
local function stamp_of(ends, unit, slack)
  return string.format('%.0f', math.ceil(ends / unit) + slack)
end
