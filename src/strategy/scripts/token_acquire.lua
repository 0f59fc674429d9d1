-- Token: take the lock.
-- KEYS  1 the lock  2 the ticket's tombstone  3 the fence
-- ARGV  1 our value  2 the lease, ms  3 how many fences to reserve
-- {1, fence}         granted, now or by an earlier try; fence '' where none was asked for
-- {0, PTTL, value}   held by who wrote that value; PTTL -1: without an end
-- {-1}               this ticket was left before its question came in
local lease = whole(ARGV[2], 1, FOREVER)
local fences = whole(ARGV[3], 0, 1000000)
if not lease or not fences then
  return refuse('a lease or a count of fences')
end
local value = redis.call('GET', KEYS[1])
if value and value ~= ARGV[1] then
  return {0, redis.call('PTTL', KEYS[1]), value}
end
if redis.call('EXISTS', KEYS[2]) == 1 then
  return {-1}
end
local fence = next_fence(KEYS[3], fences)
if not fence then
  return refuse('the stored fence')
end
if value then
  lease = no_less(KEYS[1], lease)
end
give_fences(KEYS[3], fence, fences, lease)
redis.call('SET', KEYS[1], ARGV[1], 'PX', lease)
return {1, fence}
