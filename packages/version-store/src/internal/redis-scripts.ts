/**
 * What runs inside of Redis, each script in one step. Versions are compared as numbers, exact up to 2^53 - 1, and stored as the text
 * that came in, because Lua writes great numbers in another form; after a space, the token of the delivery that stored it. A client may
 * send a command again whose answer it did not get: each script then finds what it did before, and gives the same answer.
 * KEYS: the version, the lease.
 * @module
 */

/**
 * ARGV: version, token, lease in milliseconds. Gives `duplicate`, `stale`, `claimed`, or `busy`. The lease ends by itself, so that a
 * process that dies does not keep a payment. Sent again, it finds its own token: its effect begins only now, with a whole lease.
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
 * ARGV: version, token, then the effect's commands, each as the number of its words and the words. Gives `kept`, or `lost` when the
 * lease ended before: then nothing is written, and another delivery may be at work. Sent again, it finds its token beside the version;
 * only when a greater version came between the two, it gives `lost` for what the first sending kept.
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
