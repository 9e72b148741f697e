/** Tests: keys that data is stored under. Source: docs/decisions/secrets.md. @module */

import type { StoreTransaction } from '@payment-integration/core/internal'
import { expect } from 'vitest'
import type { StoreTest } from './subject.js'
export function dataKeyTests(test: StoreTest): void {
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
