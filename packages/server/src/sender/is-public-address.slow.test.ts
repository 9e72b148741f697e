import { isIP } from 'node:net'
import { describe, expect, it } from 'vitest'
import { blockedAddress, publicAddress } from '../../test/support/hostile-addresses.js'
import { seededFraction } from '../../test/support/seeded-fraction.js'
import { isPublicAddress } from './is-public-address.js'

const seed = Number(process.env['SEED'] ?? Date.now() % 2 ** 31)

describe('isPublicAddress', () => {
  it(`refuses 100,000 random addresses of special ranges in every form that carries them (SEED=${seed})`, () => {
    const fraction = seededFraction(seed)
    const forms = new Set<number>()
    const wrong: string[] = []
    for (let n = 0; n < 100_000; n++) {
      const address = blockedAddress(fraction)
      forms.add(isIP(address))
      if (isPublicAddress(address)) wrong.push(address)
    }
    expect(wrong).toEqual([])
    // Every one is a valid address, so none is rejected for its spelling.
    expect([...forms].sort()).toEqual([4, 6])
  })

  it(`allows 20,000 random addresses of the public internet (SEED=${seed})`, () => {
    const fraction = seededFraction(seed)
    const wrong: string[] = []
    for (let n = 0; n < 20_000; n++) {
      const address = publicAddress(fraction)
      if (!isPublicAddress(address)) wrong.push(address)
    }
    expect(wrong).toEqual([])
  })
})
