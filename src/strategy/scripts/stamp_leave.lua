-- Timestamp, guarded: release our stamp, or undo what may have been granted. A stamp that is
-- not ours stays: it may be a loser's, or a new holder's, and nothing tells which.
-- KEYS  1 the lock  2 the side key  3 the ticket's tombstone
-- ARGV  1 our ticket  2 how long late questions of it are refused, ms; 0: not
--       3 the mark to remove whosever it is, where a hold is forced to end; else ''
--  1  freed     0  nobody held it      -1  somebody else holds it  -2  a foreign stamp is there
local undo = whole(ARGV[2], 0, FOREVER)
if not undo then
  return refuse('the time of an undo')
end
local found = redis.call('GET', KEYS[1])
local ticket, _, stamp = sign(KEYS[2])
local left = found and -1 or 0
if ARGV[3] ~= '' and ARGV[3] == found and found ~= stamp then
  redis.call('DEL', KEYS[1])
  left = 1
elseif ticket and (ticket == ARGV[1] or ticket == ARGV[3]) then
  redis.call('DEL', KEYS[2])
  if found == stamp then
    redis.call('DEL', KEYS[1])
    left = 1
  elseif found then
    left = -2
  end
end
if undo > 0 then
  redis.call('DEL', KEYS[3])
  redis.call('SET', KEYS[3], 1, 'PX', undo)
end
return left
