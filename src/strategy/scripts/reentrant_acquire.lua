-- Reentrant: take the lock, or take it once more.
-- KEYS  1 the lock  2 the ticket's tombstone  3 the fence
-- ARGV  1 our field  2 how often we shall hold  3 the lease, ms  4 fences to reserve
-- {1, fence}         granted, now or by an earlier try
-- {0, PTTL, field}   held by that owner; PTTL -1: without an end
-- {-1}               this ticket was left before its question came in
-- {-2}               we hold nothing, although this would not be our first hold
local count = whole(ARGV[2], 1, 4294967295)
local lease = whole(ARGV[3], 1, FOREVER)
local fences = whole(ARGV[4], 0, 1000000)
if not count or not lease or not fences then
  return refuse('a count or a lease')
end
local mine = redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1
if not mine and redis.call('EXISTS', KEYS[1]) == 1 then
  local fields = redis.call('HKEYS', KEYS[1])
  return {0, redis.call('PTTL', KEYS[1]), fields[1]}
end
if not mine and count > 1 then
  return {-2}
end
if redis.call('EXISTS', KEYS[2]) == 1 then
  return {-1}
end
local fence = next_fence(KEYS[3], fences)
if not fence then
  return refuse('the stored fence')
end
if mine then
  lease = no_less(KEYS[1], lease)
  redis.call('PEXPIRE', KEYS[1], lease) -- first: a full server permits it, and then HSET
end
give_fences(KEYS[3], fence, fences, lease)
redis.call('HSET', KEYS[1], ARGV[1], count)
redis.call('PEXPIRE', KEYS[1], lease)
return {1, fence}
