-- Timestamp, guarded: take the lock, or take it over.
-- KEYS  1 the lock  2 the side key  3 the ticket's tombstone  4 the fence
-- ARGV  1 our ticket  2 our owner  3 the lease, ms  4 the margin for clocks, ms
--       5 fences to reserve  6 'clock': take over by the server's clock; 'sight': only what was
--       seen for long enough, which is  7 that foreign stamp, or ''  8.. the dialect
-- {1, fence}         granted
-- {0, ms, mark, owner}  held for that long; -1: no telling. The mark is the ticket of one of
--                    ours, or a foreign stamp, whose owner is ''
-- {-1}               this ticket was left before its question came in
local lease = whole(ARGV[3], 1, FOREVER)
local margin = whole(ARGV[4], 0, FOREVER)
local fences = whole(ARGV[5], 0, 1000000)
local d = dialect(8)
if not lease or not margin or not fences or not d then
  return refuse('a lease, a margin or a unit')
end
local now = server_ms()
local found = redis.call('GET', KEYS[1])
local ticket, ends, stamp, owner = sign(KEYS[2])
if ticket and ticket ~= ARGV[1] and ends > now then
  return {0, ends - now, ticket, owner} -- one of ours believes in it until then
end
if found and found ~= stamp then -- a foreign stamp: only long after its end
  local ms = stamp_ms(found, d)
  if not ms then
    return {0, -1, found, ''}
  end
  local left = ms + d.step - 1 + margin - now + 1 -- its clients compare whole steps
  if ARGV[6] == 'clock' and left > 0 then
    return {0, left, found, ''}
  elseif ARGV[6] ~= 'clock' and found ~= ARGV[7] then
    return {0, left > 0 and left or -1, found, ''}
  end
end
if redis.call('EXISTS', KEYS[3]) == 1 then
  return {-1}
end
local fence = next_fence(KEYS[4], fences)
if not fence then
  return refuse('the stored fence')
end
if ticket == ARGV[1] then
  lease = math.max(lease, ends - now) -- it never becomes shorter
end
local written = stamp_of(now + lease + margin, d)
local ttl = lease + margin + GRACE
give_fences(KEYS[4], fence, fences, lease)
redis.call('SET', KEYS[1], written, 'PX', ttl)
redis.call('SET', KEYS[2], string.format('%s %s %.0f ', ARGV[1], ARGV[2], now + lease) .. written,
  'PX', ttl)
return {1, fence}
