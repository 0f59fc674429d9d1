-- Timestamp, classic: a take-over by WATCH, GET, MULTI, SET, EXEC, in one step.
-- KEYS  1 the lock
-- ARGV  1 what was read there  2 our stamp
-- ARGV[1]  ours stands there now      nil  something else stood there, or nothing
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return nil
end
redis.call('SET', KEYS[1], ARGV[2])
return ARGV[1]
