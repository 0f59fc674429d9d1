-- Token: release what is ours, give up, or undo what may have been granted.
-- KEYS  1 the lock  2 the ticket's tombstone
-- ARGV  1 our value  2 how long late questions of this ticket are refused, ms; 0: not
--  1  freed     0  nobody held it      -1  somebody else holds it
local undo = whole(ARGV[2], 0, FOREVER)
if not undo then
  return refuse('the time of an undo')
end
local value = redis.call('GET', KEYS[1])
local left = value and -1 or 0
if value == ARGV[1] then
  redis.call('DEL', KEYS[1])
  left = 1
end
if undo > 0 then
  redis.call('DEL', KEYS[2]) -- a full server lets a script write once it has freed
  redis.call('SET', KEYS[2], 1, 'PX', undo)
end
return left
