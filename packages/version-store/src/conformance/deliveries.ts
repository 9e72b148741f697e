/** Tests of deliveries in sequence and at the same time, of keys, and of bad input. @module */
import type { VersionedPayment } from '../version-store.js'
import type { Cases } from './fixture.js'
import { at, deferred, deliver, equal, expectFailure, expectFailureField, holds, rises, unwanted } from './fixture.js'

export const orderCases: Cases = {
  async 'a new payment has no version'({ store }) {
    equal(await store.current(at(1)), undefined)
  },
  async 'a first version is applied and stored, whatever its number'(fixture) {
    equal(await deliver(fixture, at(7)), 'apply')
    equal(await fixture.store.current(at(1)), 7)
    equal(await fixture.notes(), ['1/7'])
  },
  async 'a greater version is applied, over gaps too'(fixture) {
    for (const version of [1, 2, 9, 10, 100]) equal(await deliver(fixture, at(version)), 'apply')
    equal(await fixture.store.current(at(1)), 100)
    equal(await fixture.notes(), ['1/1', '1/2', '1/9', '1/10', '1/100'])
  },
  async 'the same version is a duplicate, an older one stale, and neither runs its effect'(fixture) {
    await deliver(fixture, at(5))
    equal(await fixture.store.advance(at(5), unwanted), 'duplicate')
    equal(await fixture.store.advance(at(4), unwanted), 'stale')
    equal(await fixture.store.advance(at(1), unwanted), 'stale')
    equal(await fixture.store.current(at(1)), 5)
  },
  async 'an effect may be synchronous'({ store }) {
    let ran = 0
    equal(await store.advance(at(1), () => void ran++), 'apply')
    equal(await store.advance(at(1), unwanted), 'duplicate')
    equal(ran, 1)
  },
  async 'a failed effect passes its own error out, stores nothing, and can be tried again'(fixture) {
    const { store } = fixture
    await deliver(fixture, at(1))
    const thrown = new Error('thrown')
    const rejected = new Error('rejected')
    const throwing = store.advance(at(2), () => {
      throw thrown
    })
    holds((await expectFailure(throwing)) === thrown, 'what the effect throws comes out')
    const rejecting = store.advance(at(2), () => Promise.reject(rejected))
    holds((await expectFailure(rejecting)) === rejected, 'what the effect rejects with comes out')
    equal(await expectFailure(store.advance(at(2), () => Promise.reject(undefined))), undefined)
    equal(await store.current(at(1)), 1)
    equal(await deliver(fixture, at(2)), 'apply')
    equal(await store.current(at(1)), 2)
  },
  async 'a failed effect leaves none of its writes'(fixture) {
    const failure = new Error('after the write')
    holds((await expectFailure(deliver(fixture, at(1), failure))) === failure, 'its own error comes out')
    equal(await fixture.notes(), [])
    await deliver(fixture, at(1))
    holds((await expectFailure(deliver(fixture, at(2), failure))) === failure, 'its own error comes out')
    equal(await fixture.notes(), ['1/1'])
  },
  async 'an older version does not undo a newer failed one'(fixture) {
    const failure = new Error('3 fails')
    holds((await expectFailure(deliver(fixture, at(3), failure))) === failure, 'its own error comes out')
    equal(await deliver(fixture, at(2)), 'apply')
    equal(await deliver(fixture, at(3)), 'apply')
    equal(await fixture.store.current(at(1)), 3)
  },
}

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

export const concurrencyCases: Cases = {
  async 'twenty copies of one delivery have one winner'(fixture) {
    const decisions = await Promise.all(upTo(20).map(() => deliver(fixture, at(3))))
    equal(decisions.filter((decision) => decision === 'apply').length, 1)
    equal(decisions.filter((decision) => decision === 'duplicate').length, 19)
    equal(await fixture.notes(), ['1/3'])
  },
  async 'twenty versions at once end at the greatest, kept in rising order'(fixture) {
    const mixed = upTo(20).map((index) => ((index * 7) % 20) + 1)
    await Promise.all(mixed.map((version) => deliver(fixture, at(version))))
    equal(await fixture.store.current(at(1)), 20)
    const kept = (await fixture.notes()).map((note) => Number(note.slice(2)))
    rises(kept)
    equal(kept.at(-1), 20)
  },
  async 'when a copy fails, one of those that wait takes its place'(fixture) {
    const failure = new Error('the first copy fails')
    let failed = false
    const outcomes = await Promise.allSettled(
      upTo(5).map(() =>
        fixture.store.advance(at(1), async (tx) => {
          if (!failed) {
            failed = true
            throw failure
          }
          await fixture.write(tx, '1/1')
        }),
      ),
    )
    const decisions = outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : 'failed'))
    equal(decisions.sort(), ['apply', 'duplicate', 'duplicate', 'duplicate', 'failed'])
    equal(await fixture.notes(), ['1/1'])
  },
  async 'a version is not seen before its effect is done'({ store }) {
    const started = deferred()
    const release = deferred()
    let done = false
    const winner = store.advance(at(1), async () => {
      started.resolve()
      await release.promise
      done = true
    })
    await started.promise
    // Each of these calls may wait for the effect or answer at once; neither may see the version early.
    const seen = store.current(at(1)).then((version) => ({ version, done }))
    const copy = store.advance(at(1), unwanted).then((decision) => ({ decision, done }))
    release.resolve()
    equal(await winner, 'apply')
    equal(await copy, { decision: 'duplicate', done: true })
    const early = await seen
    if (early.version !== undefined) equal(early, { version: 1, done: true })
    equal(await store.current(at(1)), 1)
  },
  async 'fifty payments at once each keep their own version'(fixture) {
    const payments = upTo(50)
    const both = (payment: number) => [deliver(fixture, at(2, payment)), deliver(fixture, at(1, payment))]
    await Promise.all(payments.flatMap(both))
    for (const payment of payments) equal(await fixture.store.current(at(1, payment)), 2)
  },
  async 'an effect that calls its own store is rejected instead of waiting for itself'(fixture) {
    const { store } = fixture
    const reentrant = 'ERR_EFFECT_REENTRANT'
    const advancing = store.advance(at(1), () => store.advance(at(1), unwanted).then())
    equal(await expectFailureField(advancing, 'code'), reentrant)
    const reading = store.advance(at(1), async () => void (await store.current(at(1))))
    equal(await expectFailureField(reading, 'code'), reentrant)
    equal(await deliver(fixture, at(1)), 'apply')
  },
}

/** Fields that identify payments, and values that are rejected. */
export const inputCases: Cases = {
  async 'another integration, chain or hash is another payment'({ store }) {
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
  async 'the parts of a key do not run into each other'({ store }) {
    const lookalikes = [
      ['a', '12', '3'],
      ['a', '1', '23'],
      ['a1', '2', '3'],
      ['a:1', '2', '3'],
      ['a', '1:2', '3'],
      ['a","1', '2', '3'],
    ] as const
    for (const [integrationAddress, chainId, txHash] of lookalikes)
      equal(await store.advance({ integrationAddress, chainId, txHash, version: 1 }, () => undefined), 'apply')
  },
  async 'an address or hash in other letter case is the same payment'({ store }) {
    const payment = { ...at(1), txHash: `0x${'ab'.repeat(32)}` }
    const upper = { ...payment, integrationAddress: `0x${'A1'.repeat(20)}`, txHash: `0x${'AB'.repeat(32)}` }
    await store.advance(upper, () => undefined)
    equal(await store.advance(payment, unwanted), 'duplicate')
    equal(await store.current(payment), 1)
    equal(await store.current(upper), 1)
  },
  async 'the largest versions are kept exactly'(fixture) {
    for (const version of [2 ** 31, 2 ** 32, Number.MAX_SAFE_INTEGER - 1, Number.MAX_SAFE_INTEGER]) {
      equal(await deliver(fixture, at(version)), 'apply')
      equal(await fixture.store.current(at(1)), version)
    }
    equal(await fixture.store.advance(at(Number.MAX_SAFE_INTEGER - 1), unwanted), 'stale')
  },
  async 'a version that is no whole number from 1 up is rejected before the effect'({ store }) {
    const bad = [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, '1', 1n, null, undefined]
    for (const version of bad) {
      const payment = { ...at(1), version: version as number }
      const name = await expectFailureField(store.advance(payment, unwanted), 'name')
      equal(name, 'RangeError', `of version ${String(version)}`)
    }
    equal(await store.current(at(1)), undefined)
  },
  async 'a key with a part that is missing, empty or no string is rejected'({ store }) {
    for (const part of ['integrationAddress', 'chainId', 'txHash'])
      for (const value of [undefined, null, '', 8453]) {
        const payment = { ...at(1), [part]: value } as VersionedPayment
        equal(await expectFailureField(store.advance(payment, unwanted), 'name'), 'TypeError', `of ${part} ${value}`)
        equal(await expectFailureField(store.current(payment), 'name'), 'TypeError', `of ${part} ${value}`)
      }
  },
}
