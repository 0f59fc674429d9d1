-- Token: make the hold last for a lease from now, and write its fence back.
-- KEYS  1 the lock  2 the fence
-- ARGV  1 our value  2 the lease, ms  3 our fence, 0 where there is none
--  1  kept      0  nobody holds it     -1  somebody else holds it
local lease = whole(ARGV[2], 1, FOREVER)
local fence = whole(ARGV[3], 0, LAST_FENCE)
if not lease or not fence then
  return refuse('a lease or a fence')
end
local value = redis.call('GET', KEYS[1])
if value ~= ARGV[1] then
  return value and -1 or 0
end
redis.call('PEXPIRE', KEYS[1], no_less(KEYS[1], lease))
if fence > 0 then
  raise_fence(KEYS[2], fence, lease)
end
return 1
