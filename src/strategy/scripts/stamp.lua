-- Time stamps beside the sign of whose they are.
-- The side key says: <ticket> <owner> <end by the server's clock, ms> <stamp>
-- A dialect is told by the last arguments: its kind, 'whole', 'float' or 'bytes'; its step, ms;
-- its slack, ms; what stands before and behind our own numbers; the words for "for ever".

local GRACE = 60000 -- ms that a key outlives its stamp: a clean-up, never a decision
local LAST_BYTES = 9007199254740 -- s, which are 2^53 ms

local function dialect(at)
  local step, slack = whole(ARGV[at + 1], 1, 1000), whole(ARGV[at + 2], 0, DAY)
  if not step or not slack then
    return nil
  end
  return {kind = ARGV[at], step = step, slack = slack, before = ARGV[at + 3],
    after = ARGV[at + 4], words = at + 5}
end

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

-- The number in a stamp, without what tells whose it is; nil where that is missing.
local function bare(stamp, d)
  if d.before ~= '' then
    local mark = '%' .. string.sub(d.before, -1)
    return string.match(stamp, '^.+' .. mark .. '(.-)$')
  elseif d.after ~= '' then
    local mark = '%' .. string.sub(d.after, 1, 1)
    return string.match(stamp, '^(.-)' .. mark .. '.+$')
  end
  return stamp
end

-- Seconds in eight bytes, the lowest first, as ms.
local function bytes_ms(number)
  if #number ~= 8 then
    return nil
  end
  local seconds = 0
  for i = 8, 1, -1 do
    seconds = seconds * 256 + string.byte(number, i)
  end
  return seconds < LAST_BYTES and seconds * 1000 or nil
end

-- The ms that a stamp says, rounded up; nil where it is none, or says "for ever".
local function stamp_ms(stamp, d)
  for i = d.words, #ARGV do
    if stamp == ARGV[i] then
      return nil
    end
  end
  local number = bare(stamp, d)
  if not number then
    return nil
  elseif d.kind == 'bytes' then
    return bytes_ms(number)
  end
  local digits, fraction = number, '0'
  if d.kind == 'float' and string.find(number, '.', 1, true) then
    digits, fraction = string.match(number, '^(%d+)%.(%d+)$')
  end
  if not digits or #digits > 15 or #fraction > 17 or not string.match(digits, '^%d+$') then
    return nil
  elseif d.kind == 'whole' then
    return tonumber(digits) * d.step
  end
  local ms = tonumber(digits) * 1000 + tonumber(string.sub(fraction .. '00', 1, 3))
  return string.find(string.sub(fraction, 4), '[1-9]') and ms + 1 or ms
end

-- The stamp of an end in ms: never before it, and later by the slack.
local function stamp_of(ends, d)
  local steps = math.floor((math.ceil(ends / d.step) * d.step + d.slack) / d.step)
  local number
  if d.kind == 'whole' then
    number = string.format('%.0f', steps)
  elseif d.kind == 'float' then
    local ms = steps * d.step
    number = string.format('%.0f.%03d', math.floor(ms / 1000), ms % 1000)
    number = string.gsub(number, '0?0$', '')
  else
    number = ''
    for _ = 1, 8 do
      number, steps = number .. string.char(steps % 256), math.floor(steps / 256)
    end
  end
  return d.before .. number .. d.after
end
