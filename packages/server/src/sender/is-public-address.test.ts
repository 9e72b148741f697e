import { isIP } from 'node:net'
import { describe, expect, it } from 'vitest'
import { blockedAddress, publicAddress } from '../../test/support/hostile-addresses.js'
import { seededFraction } from '../../test/support/seeded-fraction.js'
import { isLoopbackAddress, isPublicAddress } from './is-public-address.js'

const seed = Number(process.env['SEED'] ?? Date.now() % 2 ** 31)

describe('isPublicAddress', () => {
  it(`refuses 5,000 random addresses of special ranges in every form that carries them (SEED=${seed})`, () => {
    const fraction = seededFraction(seed)
    const forms = new Set<number>()
    const wrong: string[] = []
    for (let n = 0; n < 5_000; n++) {
      const address = blockedAddress(fraction)
      forms.add(isIP(address))
      if (isPublicAddress(address)) wrong.push(address)
    }
    expect(wrong).toEqual([])
    // Every one is a valid address, so none is rejected for its spelling.
    expect([...forms].sort()).toEqual([4, 6])
  })

  it(`allows 1,000 random addresses of the public internet (SEED=${seed})`, () => {
    const fraction = seededFraction(seed)
    const wrong: string[] = []
    for (let n = 0; n < 1_000; n++) {
      const address = publicAddress(fraction)
      if (!isPublicAddress(address)) wrong.push(address)
    }
    expect(wrong).toEqual([])
  })
})

describe('isLoopbackAddress', () => {
  it.each(['127.0.0.1', '127.1.2.3', '::1', '0:0:0:0:0:0:0:1'])('%s is loopback', (address) =>
    expect(isLoopbackAddress(address)).toBe(true),
  )
  it.each(['8.8.8.8', '10.0.0.1', '0.0.0.0', '::', '::ffff:127.0.0.1', '::7f00:1', 'localhost', '', '::1%lo'])(
    '%j is not loopback',
    (address) => expect(isLoopbackAddress(address)).toBe(false),
  )
})
