-- Timestamp, guarded: who holds the lock.
-- KEYS  1 the lock  2 the side key
-- ARGV  1.. the dialect
-- {ms, mark, owner}  held for that long; -1: no telling, the stamp is none. The mark is the
--                    ticket of one of ours, or a foreign stamp, whose owner is ''
-- nil                nobody holds it, or the end has passed
local d = dialect(1)
if not d then
  return refuse('a unit')
end
local now = server_ms()
local found = redis.call('GET', KEYS[1])
local ticket, ends, stamp, owner = sign(KEYS[2])
if ticket and ends > now then
  return {ends - now, ticket, owner}
end
if not found or found == stamp then
  return nil
end
local ms = stamp_ms(found, d)
if not ms then
  return {-1, found, ''}
elseif ms < now then
  return nil
end
return {ms - now, found, ''}
