/** Probes of repeated, reordered and concurrent deliveries. Source: docs/interface.md 6. @module */
import type { SignedDelivery } from '../../deliveries/create-deliveries.js'
import type { Bench } from '../bench.js'
import { asksForRetry, isAccepted, judgeAccepted } from '../judge.js'
import type { Judgement, SocketAnswer } from '../report.js'
import { accepted, type ProbeSpec } from './probe.js'

const order = '6 receiver obligations: discard a version that is not greater'
const atOnce = '2xx, or one of 409, 423, 425, 429, 503 and 2xx when sent again'

/** Probes of versions. */
export const versionProbes: readonly ProbeSpec[] = [
  accepted({
    name: 'duplicate',
    sent: 'one delivery three times: signed again, then with the same bytes and header',
    clause: '6 receiver obligations: deliveries can repeat',
    cause: 'rejects-duplicates',
    effects: 1,
    async make(bench) {
      const first = await bench.deliveries.good(bench.payment())
      const again = await bench.deliveries.duplicate(first)
      return [first, again, again]
    },
  }),
  accepted({
    name: 'lower-version',
    sent: 'version 2, then version 1 of the same payment',
    clause: order,
    cause: 'rejects-lower-version',
    effects: 1,
    async make(bench) {
      const pending = bench.payment()
      return bench.deliveries.reordered([pending, { ...pending, version: 2, state: 'success' }])
    },
  }),
  accepted({
    name: 'version-gap',
    sent: 'version 4 as the first of a payment, then version 9',
    clause: '6 receiver obligations: deliveries are unordered',
    cause: 'rejects-version-gap',
    effects: 2,
    async make(bench) {
      const fourth = bench.payment({ version: 4 })
      return [
        await bench.deliveries.good(fourth),
        await bench.deliveries.good({ ...fourth, version: 9, state: 'success' }),
      ]
    },
  }),
  accepted({
    name: 'same-hash-other-chain',
    sent: 'one transaction hash on two chains',
    clause: '6 receiver obligations: chainId, txHash and version identify a snapshot',
    cause: 'confuses-chains',
    effects: 2,
    async make(bench) {
      const one = bench.payment({ chainId: '1' })
      return [await bench.deliveries.good(one), await bench.deliveries.good({ ...one, chainId: '137' })]
    },
  }),
  {
    name: 'two-at-once',
    sent: 'one delivery twice at the same time',
    expected: atOnce,
    clause: '6 receiver obligations: handlers are idempotent on the triple',
    effects: 1,
    async run(bench) {
      const delivery = await bench.deliveries.good(bench.payment())
      return sendAtOnce(bench, [delivery, delivery])
    },
  },
  {
    name: 'two-versions-at-once',
    sent: 'versions 1 and 2 of a payment at the same time',
    expected: atOnce,
    clause: order,
    // The lower version has an effect only if it comes first.
    effects: null,
    async run(bench) {
      const pending = bench.payment()
      const both = [pending, { ...pending, version: 2, state: 'success' as const }]
      return sendAtOnce(bench, await Promise.all(both.map((snapshot) => bench.deliveries.good(snapshot))))
    },
  },
]

async function sendAtOnce(bench: Bench, deliveries: readonly SignedDelivery[]): Promise<Judgement> {
  const first = await Promise.all(deliveries.map((delivery) => bench.send(delivery)))
  const again: SocketAnswer[] = []
  for (const [index, answer] of first.entries()) {
    const delivery = deliveries[index]
    if (delivery !== undefined && asksForRetry(answer)) again.push(await bench.send(delivery))
  }
  const final = [...first.filter((answer) => isAccepted(answer) || !asksForRetry(answer)), ...again]
  return { ...judgeAccepted(final, 'fails-at-once', bench.timeoutMs), answers: [...first, ...again] }
}
