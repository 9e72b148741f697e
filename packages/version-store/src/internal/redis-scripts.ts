/**
 * What runs inside of Redis, each script in one step. Versions are compared as numbers, exact up to 2^53 - 1, and stored as the text
 * that came in, because Lua writes great numbers in another form. KEYS: the version, the lease.
 * @module
 */

/**
 * ARGV: version, token, lease in milliseconds. Gives `duplicate`, `stale`, `claimed`, or `busy`. The lease ends by itself, so that a
 * process that dies does not keep a payment.
 */
export const claimScript = `
local stored = tonumber(redis.call('GET', KEYS[1]) or '0')
local version = tonumber(ARGV[1])
if version == stored then return 'duplicate' end
if version < stored then return 'stale' end
if redis.call('SET', KEYS[2], ARGV[2], 'NX', 'PX', ARGV[3]) then return 'claimed' end
return 'busy'`

/**
 * ARGV: version, token, then the effect's commands, each as the number of its words and the words. Gives `kept`, or `lost` when the
 * lease ended before: then nothing is written, and another delivery may be at work.
 */
export const commitScript = `
if redis.call('GET', KEYS[2]) ~= ARGV[2] then return 'lost' end
local at = 3
while at <= #ARGV do
  local words = tonumber(ARGV[at])
  redis.call(unpack(ARGV, at + 1, at + words))
  at = at + 1 + words
end
redis.call('SET', KEYS[1], ARGV[1])
redis.call('DEL', KEYS[2])
return 'kept'`

/** ARGV: token. Gives the payment back, if it is still held. */
export const releaseScript = `
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 'released'`
