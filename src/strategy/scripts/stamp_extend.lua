-- Timestamp, guarded: write a later stamp over our own.
-- KEYS  1 the lock  2 the side key  3 the fence
-- ARGV  1 our ticket  2 our owner  3 the lease, ms  4 the margin for clocks, ms
--       5 our fence, 0 where there is none  6.. the dialect
--  1  kept      0  nobody holds it     -1  one of ours holds it    -2  a foreign stamp is there
local lease = whole(ARGV[3], 1, FOREVER)
local margin = whole(ARGV[4], 0, FOREVER)
local fence = whole(ARGV[5], 0, LAST_FENCE)
local d = dialect(6)
if not lease or not margin or not fence or not d then
  return refuse('a lease, a margin or a unit')
end
local found = redis.call('GET', KEYS[1])
local ticket, ends, stamp = sign(KEYS[2])
if ticket ~= ARGV[1] then
  return (ticket and -1) or (found and -2) or 0
elseif found ~= stamp then
  return found and -2 or 0
end
local now = server_ms()
lease = math.max(lease, ends - now) -- it never becomes shorter
local written = stamp_of(now + lease + margin, d)
local ttl = lease + margin + GRACE
redis.call('PEXPIRE', KEYS[1], ttl) -- first: a full server permits it, and then SET
redis.call('SET', KEYS[1], written, 'PX', ttl)
redis.call('SET', KEYS[2], string.format('%s %s %.0f ', ARGV[1], ARGV[2], now + lease) .. written,
  'PX', ttl)
if fence > 0 then
  raise_fence(KEYS[3], fence, lease)
end
return 1
