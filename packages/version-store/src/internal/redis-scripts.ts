/**
 * The scripts that run inside of Redis, each in one step. KEYS: the version, the lease.
 * Versions compare as numbers, exact up to 2^53 - 1. The stored value is the version's own text,
 * because Lua writes great numbers in another form, then a space and the token of the delivery.
 * A client may resend a command after a lost answer. Each script then finds its own earlier work and answers the same.
 * @module
 */

/**
 * ARGV: version, token, lease in milliseconds. Answers `duplicate`, `stale`, `claimed` or `busy`.
 * The lease expires by itself, so a dead process does not block a payment. A resent command finds its own token, and
 * its effect begins only now, with a whole lease.
 */
export const claimScript = `
local stored = tonumber(string.match(redis.call('GET', KEYS[1]) or '0', '^%d+'))
local version = tonumber(ARGV[1])
if version == stored then return 'duplicate' end
if version < stored then return 'stale' end
local holder = redis.call('GET', KEYS[2])
if holder and holder ~= ARGV[2] then return 'busy' end
redis.call('SET', KEYS[2], ARGV[2], 'PX', ARGV[3])
return 'claimed'`

/**
 * ARGV: version, token, then the effect's commands, each as the number of its words and the words. Answers `kept`.
 * Answers `lost` when the lease had ended: nothing is written, and another delivery may be at work.
 * A resent command finds its token beside the version. If a greater version came in between, it answers `lost`
 * although the first sending was kept.
 */
export const commitScript = `
local mark = ARGV[1] .. ' ' .. ARGV[2]
if redis.call('GET', KEYS[1]) == mark then return 'kept' end
if redis.call('GET', KEYS[2]) ~= ARGV[2] then return 'lost' end
local at = 3
while at <= #ARGV do
  local words = tonumber(ARGV[at])
  redis.call(unpack(ARGV, at + 1, at + words))
  at = at + 1 + words
end
redis.call('SET', KEYS[1], mark)
redis.call('DEL', KEYS[2])
return 'kept'`

/** ARGV: token. Gives the payment back, if it is still held. */
export const releaseScript = `
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 'released'`
