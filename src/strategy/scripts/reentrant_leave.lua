-- Reentrant: leave the inner hold or the outermost, or undo what may have been granted.
-- KEYS  1 the lock  2 the ticket's tombstone
-- ARGV  1 our field  2 how often we still hold  3 the lease, ms
--       4 how long late questions of this ticket are refused, ms; 0: not  5 the channel
--  1  freed     2  held less often      0  nobody held it     -1  somebody else holds it
local count = whole(ARGV[2], 0, 4294967295)
local lease = whole(ARGV[3], 1, FOREVER)
local undo = whole(ARGV[4], 0, FOREVER)
if not count or not lease or not undo then
  return refuse('a count or a lease')
end
local left
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then
  left = -redis.call('EXISTS', KEYS[1])
elseif count > 0 then
  lease = no_less(KEYS[1], lease)
  redis.call('PEXPIRE', KEYS[1], lease) -- first: a full server permits it, and then HSET
  redis.call('HSET', KEYS[1], ARGV[1], count)
  left = 2
else
  redis.call('DEL', KEYS[1])
  redis.pcall('PUBLISH', ARGV[5], '0') -- who may not publish still releases
  left = 1
end
if undo > 0 then
  redis.call('DEL', KEYS[2])
  redis.call('SET', KEYS[2], 1, 'PX', undo)
end
return left
