/** Keys, edges and bad input. @module */

import type { VersionedPayment } from '../version-store.js'
import { equal, nameOfReason } from './assert.js'
import { at, type Case, deliver, unwanted } from './fixture.js'

/** Fields that identify payments, and values that are refused. */
export function inputCases<Tx>(): Case<Tx>[] {
  return [
    {
      name: 'integration, chain and hash each make another payment',
      async run({ store }) {
        const payment = at(5)
        const others: VersionedPayment[] = [
          { ...payment, integrationAddress: `0x${'c3'.repeat(20)}` },
          { ...payment, chainId: '1' },
          { ...payment, txHash: `0x${'d4'.repeat(32)}` },
        ]
        await store.advance(payment, () => undefined)
        for (const other of others) equal(await store.advance({ ...other, version: 1 }, () => undefined), 'apply')
        equal(await store.current(payment), 5)
        for (const other of others) equal(await store.current(other), 1)
      },
    },
    {
      name: 'the parts of a key do not run into each other',
      async run({ store }) {
        const key = (integrationAddress: string, chainId: string, txHash: string) => ({
          integrationAddress,
          chainId,
          txHash,
          version: 1,
        })
        const lookalikes = [
          key('a', '12', '3'),
          key('a', '1', '23'),
          key('a1', '2', '3'),
          key('a:1', '2', '3'),
          key('a', '1:2', '3'),
          key('a","1', '2', '3'),
        ]
        for (const payment of lookalikes) equal(await store.advance(payment, () => undefined), 'apply')
      },
    },
    {
      name: 'an address or hash in other letter case is the same payment',
      async run({ store }) {
        const payment = { ...at(1), txHash: `0x${'ab'.repeat(32)}` }
        const upper = { ...payment, integrationAddress: `0x${'A1'.repeat(20)}`, txHash: `0x${'AB'.repeat(32)}` }
        await store.advance(upper, () => undefined)
        equal(await store.advance(payment, unwanted), 'duplicate')
        equal(await store.current(payment), 1)
        equal(await store.current(upper), 1)
      },
    },
    {
      name: 'the largest versions are kept exactly',
      async run(fixture) {
        for (const version of [2 ** 31, 2 ** 32, Number.MAX_SAFE_INTEGER - 1, Number.MAX_SAFE_INTEGER]) {
          equal(await deliver(fixture, at(version)), 'apply')
          equal(await fixture.store.current(at(1)), version)
        }
        equal(await fixture.store.advance(at(Number.MAX_SAFE_INTEGER - 1), unwanted), 'stale')
      },
    },
    {
      name: 'a version that is no whole number from 1 up is refused before the effect',
      async run({ store }) {
        const bad = [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, '1', 1n, null, undefined]
        for (const version of bad) {
          const payment = { ...at(1), version: version as number }
          equal(await nameOfReason(store.advance(payment, unwanted)), 'RangeError', `of version ${String(version)}`)
        }
        equal(await store.current(at(1)), undefined)
      },
    },
    {
      name: 'a key with a part that is missing, empty or no string is refused',
      async run({ store }) {
        for (const part of ['integrationAddress', 'chainId', 'txHash'])
          for (const value of [undefined, null, '', 8453]) {
            const payment = { ...at(1), [part]: value } as VersionedPayment
            equal(await nameOfReason(store.advance(payment, unwanted)), 'TypeError', `of ${part} ${value}`)
            equal(await nameOfReason(store.current(payment)), 'TypeError', `of ${part} ${value}`)
          }
      },
    },
  ]
}
