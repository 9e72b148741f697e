/** DESIGN 5.4: requests, proofs, crashes, faults and webhooks in any order. */
import { test } from 'vitest'
import { interleavingSetup } from '../../test/support/interleaving-setup.js'

const runs = process.env['CI'] === undefined ? 60 : 1_000
const firstSeed = Number(process.env['SEED'] ?? 1)

test.each(Array.from({ length: runs }, (_, n) => firstSeed + n))(
  'one token of a person is in flight at most, and nothing redeemed is lost: seed %i',
  async (seed) => {
    const { live, heal } = interleavingSetup(seed)
    await live()
    await heal()
  },
)
