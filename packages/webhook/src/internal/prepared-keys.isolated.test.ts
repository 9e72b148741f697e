import { beforeEach, expect, test, vi } from 'vitest'
import { prepareKeys } from './prepared-keys.js'

const prepared = vi.hoisted((): string[] => [])
vi.mock('#hmac', async (load) => {
  const hmac = await load<typeof import('#hmac')>()
  return {
    ...hmac,
    signingKey(secret: string) {
      prepared.push(secret)
      return hmac.signingKey(secret)
    },
  }
})
beforeEach(() => {
  prepared.length = 0
})

test('a secret is prepared once for many deliveries', () => {
  const [first] = prepareKeys('of many deliveries')
  for (let round = 0; round < 3; round++) expect(prepareKeys(['of many deliveries'])).toEqual([first])
  expect(prepared).toEqual(['of many deliveries'])
})

test('no more than 256 keys are cached', () => {
  for (let index = 0; index < 2_000; index++) prepareKeys(`secret-${index}`)
  prepared.length = 0
  for (let index = 1_999; index >= 0; index--) prepareKeys(`secret-${index}`)
  expect(prepared.length).toBeGreaterThanOrEqual(2_000 - 256)
  prepared.length = 0
  prepareKeys('secret-0')
  expect(prepared).toEqual([])
})
