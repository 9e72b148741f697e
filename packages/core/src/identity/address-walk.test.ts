/** INTERFACE 4.2: whoever never proved an address keeps nothing of what was shared for it, whatever happens in whatever order. */
import { test } from 'vitest'
import { createWorld } from '../../test/support/address-world.js'

const seeds = process.env['CI'] === undefined ? 60 : 1_000
const first = Number(process.env['SEED'] ?? 1)

test.each(Array.from({ length: seeds }, (_, n) => first + n))(
  'addresses that go from one account to another while something is shared for them: seed %i',
  async (seed) => {
    const world = createWorld(seed)
    await world.live()
    await world.heal()
  },
)
