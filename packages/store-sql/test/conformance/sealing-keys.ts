/** Tests: which master keys stored secrets need, and data keys. Source: docs/decisions/secrets.md. @module */
import type { SealingKeyUse, StoreTransaction } from '@payment-integration/core/internal'
import { expect } from 'vitest'
import { epoch, insertIntegration, integration } from './fixtures.js'
import { getEmail } from './identity-steps.js'
import type { StoreTest } from './subject.js'

const hash = (n: number, keyVersion: number) => ({ keyVersion, hash: n.toString(16).padStart(64, '0') })
const sealed = (keyVersion: number) => ({ keyVersion, sealed: `sealed ${keyVersion}` })
const inOrder = (uses: readonly SealingKeyUse[]) =>
  [...uses].sort((a, b) => (a.place === b.place ? a.keyVersion - b.keyVersion : a.place < b.place ? -1 : 1))
export function sealingKeyTests(test: StoreTest): void {
  test('a store without secrets needs no master key', async ({ store }) => {
    expect(await store.sealingKeys(epoch)).toEqual([])
  })

  test('master keys are counted by place, without revoked keys and secrets past their grace', async ({ store }) => {
    const newest = 2 ** 32 - 1
    const getAddress = (n: number) => `0x${n.toString(16).padStart(40, '0')}`
    await insertIntegration(
      store,
      integration({
        address: getAddress(1),
        apiSecret: hash(1, newest),
        previousApiSecret: { ...hash(2, 2), until: epoch + 1 },
        signingSecret: sealed(3),
        preparedSigningSecret: sealed(7),
        previousSigningSecret: { ...sealed(8), until: epoch + 1 },
      }),
    )
    await insertIntegration(
      store,
      integration({ address: getAddress(2), apiSecret: null, previousApiSecret: null, signingSecret: sealed(3) }),
    )
    const key = { name: '', createdAt: epoch, revokedAt: null }
    await store.transaction(async ({ legacyKeys }) => {
      await legacyKeys.insert({ ...key, id: 'a', secret: hash(1, 4) })
      await legacyKeys.insert({ ...key, id: 'b', secret: hash(2, newest) })
      await legacyKeys.insert({ ...key, id: 'c', secret: hash(3, 5), revokedAt: epoch })
    })
    await store.dataKeys.obtain('email', sealed(6))
    // Values that a data key seals need no master key.
    await store.transaction((tx) => tx.identity.ensureSubject(getEmail(1, 9), 'subject'))
    const needed = [
      { place: 'data_keys.key', keyVersion: 6, rows: 1 },
      { place: 'integrations.api_secret', keyVersion: newest, rows: 1 },
      { place: 'integrations.prepared_signing_secret', keyVersion: 7, rows: 1 },
      { place: 'integrations.previous_api_secret', keyVersion: 2, rows: 1 },
      { place: 'integrations.previous_signing_secret', keyVersion: 8, rows: 1 },
      { place: 'integrations.signing_secret', keyVersion: 3, rows: 2 },
      { place: 'legacy_keys.secret', keyVersion: 4, rows: 1 },
      { place: 'legacy_keys.secret', keyVersion: newest, rows: 1 },
    ]
    expect(inOrder(await store.sealingKeys(epoch))).toEqual(needed)
    const afterGrace = needed.filter(({ place }) => !place.includes('.previous_'))
    expect(inOrder(await store.sealingKeys(epoch + 1))).toEqual(afterGrace)
  })

  test('the data keys are listed by purpose', async ({ store }) => {
    expect(await store.transaction((tx) => tx.dataKeys.list())).toEqual([])
    await store.dataKeys.obtain('email', sealed(1))
    await store.dataKeys.obtain('a\u0000', sealed(2 ** 32 - 1))
    expect(await store.transaction((tx) => tx.dataKeys.list())).toEqual([
      { purpose: 'a\u0000', key: sealed(2 ** 32 - 1) },
      { purpose: 'email', key: sealed(1) },
    ])
  })

  test('ten candidates for a data key at once get the same one; each purpose has its own', async ({ twoStores }) => {
    const [one, two] = await twoStores()
    const asked = Array.from({ length: 10 }, (_, n) =>
      (n % 2 === 0 ? one : two).dataKeys.obtain('email', { keyVersion: 2 ** 32 - 1, sealed: `candidate ${n}` }),
    )
    const keys = await Promise.all(asked)
    expect(new Set(keys.map(({ sealed }) => sealed)).size).toBe(1)
    expect(keys[0]).toStrictEqual({ keyVersion: 2 ** 32 - 1, sealed: keys[0]?.sealed })
    const other = { keyVersion: 1, sealed: 'other' }
    expect(await one.dataKeys.obtain('email\u0000', other)).toStrictEqual(other)
  })

  test('a data key is replaced only if it is unchanged since the caller read it', async ({ store }) => {
    const [first, second, third] = [1, 2, 3].map((keyVersion) => ({ keyVersion, sealed: `sealed ${keyVersion}` }))
    if (first === undefined || second === undefined || third === undefined) throw new TypeError('Three keys are made.')
    const replace = (...given: Parameters<StoreTransaction['dataKeys']['replace']>) =>
      store.transaction((tx) => tx.dataKeys.replace(...given))
    expect(await replace('email', first, second)).toBe(false)
    await store.dataKeys.obtain('email', first)
    expect(await replace('other', first, second)).toBe(false)
    expect(await replace('email', { ...first, keyVersion: 9 }, second)).toBe(false)
    const replaced = await Promise.all([second, third].map((after) => replace('email', first, after)))
    expect(replaced.filter(Boolean)).toHaveLength(1)
    expect(await store.dataKeys.obtain('email', first)).toStrictEqual(replaced[0] ? second : third)
  })
}
