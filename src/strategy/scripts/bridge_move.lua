-- Bridge: move the marker by one phase.
-- KEYS  1 the marker
-- ARGV  1 the phase that it is to be moved from  2 the phase that it is to be moved to
-- {1, phase}         it stands at that phase, moved now or by an earlier try
-- {0, phase}         it stands at another phase and was not moved
local from, to = whole(ARGV[1], 0, 2), whole(ARGV[2], 0, 2)
local at = whole(redis.call('GET', KEYS[1]) or '0', 0, 2)
if not from or not to or not at then
  return refuse('a phase')
end
if at == to then
  return {1, at}
elseif at ~= from then
  return {0, at}
end
redis.call('SET', KEYS[1], string.format('%.0f', to))
return {1, to}
