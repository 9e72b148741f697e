import { describe, expect, it } from 'vitest'
import { seededRandom } from '../../test/support/seeded-random.js'
import { hashApiSecret, parseMasterKey } from '../secrets/keys.js'
import { createAuthenticate, createCredentialCache } from './authenticate.js'
import type { IntegrationRecord } from './integration.js'

const oldKey = 'a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f90'
const newKey = '00112233445566778899aabbccddeeff102132435465768798a9bacbdcedfe0f'
const keys = parseMasterKey(`${newKey},${oldKey}`)
const address = `0x${'ab'.repeat(20)}`
const record: IntegrationRecord = {
  address,
  name: '',
  notificationUrl: null,
  enabled: true,
  apiSecret: hashApiSecret(keys.current, address, 'current'),
  previousApiSecret: { ...hashApiSecret(keys.current, address, 'previous'), until: 1_000 },
  signingSecret: { keyVersion: 0, sealed: '' },
  preparedSigningSecret: null,
  previousSigningSecret: null,
  createdAt: 0,
}

function setup(stored: IntegrationRecord | null, now = 0) {
  const clock = { now: () => now }
  const random = seededRandom(1)
  const lookups: string[] = []
  const authenticate = createAuthenticate({
    integrations: {
      async credentials(key, absent) {
        lookups.push(key)
        const found = stored?.address === key ? stored : null
        return {
          usable: found?.enabled === true && found.apiSecret !== null,
          current: found?.apiSecret ?? absent.current,
          previous: found?.previousApiSecret ?? { ...absent.previous, until: 0 },
        }
      },
    },
    keys,
    clock,
    random,
    cache: createCredentialCache({ clock, random }),
  })
  const call = (secret: string, who = address) =>
    authenticate(`Basic ${Buffer.from(`${who}:${secret}`).toString('base64')}`)
  return { authenticate, call, lookups }
}

describe('authenticate', () => {
  it('resolves the caller, lowercased, whatever the case of the username', async () => {
    const { call } = setup(record)
    expect(await call('current', address.toUpperCase().replace('0X', '0x'))).toEqual({ integrationAddress: address })
  })

  it('accepts the previous secret until its last millisecond, and not after', async () => {
    expect(await setup(record, 999).call('previous')).not.toBeNull()
    expect(await setup(record, 1_000).call('previous')).toBeNull()
  })

  it.each([
    ['an unknown address', null, 'current'],
    ['a wrong secret', record, 'wrong'],
    ['a disabled integration', { ...record, enabled: false }, 'current'],
    ['an integration without an API secret', { ...record, apiSecret: null, previousApiSecret: null }, 'current'],
    ['an integration without an API secret, with its previous one', { ...record, apiSecret: null }, 'previous'],
    [
      'a hash under an unknown master key',
      { ...record, apiSecret: { ...hashApiSecret(keys.current, address, 'current'), keyVersion: 7 } },
      'current',
    ],
    [
      "another integration's hash of the same secret",
      { ...record, apiSecret: hashApiSecret(keys.current, `0x${'cd'.repeat(20)}`, 'current') },
      'current',
    ],
    ['a truncated stored hash', { ...record, apiSecret: { keyVersion: keys.current.version, hash: '' } }, 'current'],
  ])('rejects %s', async (_what, stored, secret) => {
    expect(await setup(stored).call(secret)).toBeNull()
  })

  it('looks up exactly once for every request, also for a malformed header', async () => {
    const { authenticate, lookups } = setup(record)
    expect(await authenticate(undefined)).toBeNull()
    expect(await authenticate('Basic !!!')).toBeNull()
    expect(await authenticate(`${address}:current`)).toBeNull()
    expect(lookups).toHaveLength(3)
  })
})
