/** Probes of valid deliveries: bodies, headers, versions. Source: docs/interface.md 2.3, 3, 6. @module */
import { paymentStates } from '@payment-integration/contract'
import type { SignedDelivery } from '../../deliveries.js'
import type { DoctorCauseCode } from '../causes.js'
import type { SocketAnswer } from '../send.js'
import type { Bench, Judgement, ProbeTable, SignedParts } from './probe.js'
import { accepted, anyOther, asksForRetry, isAccepted, judgeAccepted, withHeader } from './probe.js'

const raw = '6 signature rule 2: verify over the raw bytes before any JSON parsing'
const title = `Doctor \u00fc\u00e9\u4e2d\u{1f4b3} "quoted" \\ / \u2028`
const longTitle = 'A long merchant title. '.repeat(180)

export const bodyProbes = {
  good: accepted({
    sent: 'a valid delivery, as the service sends it',
    clause: anyOther,
    cause: 'wrong-secret',
    make: async (bench) => [await bench.deliveries.good(bench.payment())],
  }),
  'pretty-printed': accepted({
    sent: 'indented JSON, signed over these bytes',
    clause: raw,
    cause: 'body-reserialized',
    make: async (bench) => [await bench.deliverText(`${JSON.stringify(bench.payment(), null, 2)}\n`)],
  }),
  unicode: accepted({
    sent: 'a non-ASCII title, plain and with JSON escapes',
    clause: raw,
    cause: 'body-decoded',
    effects: 2,
    async make(bench) {
      const text = () => JSON.stringify(bench.payment({ recipient: { title, subtitle: null } }))
      // Both spellings are the same JSON, which also allows an escaped slash.
      const escaped = text()
        .replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
        .replaceAll('/', '\\/')
      return [await bench.deliverText(text()), await bench.deliverText(escaped)]
    },
  }),
  'long-text': accepted({
    sent: 'a merchant title of 4 KiB',
    clause: '2.3: recipient.title is a string without a limit',
    cause: 'fails-on-long-text',
    make: async (bench) => [
      await bench.deliveries.good(bench.payment({ recipient: { title: longTitle, subtitle: null } })),
    ],
  }),
  'unknown-fields': accepted({
    sent: 'additional fields in snapshot, recipient and invoice',
    clause: '2.3: every field is always present; a newer service may add some',
    cause: 'rejects-unknown-fields',
    async make(bench) {
      const { recipient, invoice, ...rest } = bench.payment()
      const added = { addedLater: { nested: [1, 'two', null] } }
      const nested = { recipient: { ...recipient, ...added }, invoice: { ...invoice, ...added } }
      return [await bench.deliverText(JSON.stringify({ ...rest, ...nested, ...added }))]
    },
  }),
  'unknown-state': accepted({
    sent: 'the state "added_later"',
    clause: '3: payment states; a newer service may add one',
    cause: 'rejects-unknown-state',
    make: async (bench) => [await bench.deliverText(JSON.stringify({ ...bench.payment(), state: 'added_later' }))],
  }),
  'every-state': accepted({
    sent: 'one payment in each of the six states',
    clause: '3: payment states',
    cause: 'rejects-a-state',
    effects: paymentStates.length,
    make: (bench) => Promise.all(paymentStates.map((state) => bench.deliveries.good(bench.payment({ state })))),
  }),
  'null-fields': accepted({
    sent: 'null for state, recipient and invoice, then for the subtitle',
    clause: '2.3: state, recipient, recipient.subtitle and invoice may be null',
    cause: 'fails-on-null',
    effects: 2,
    make: async (bench) => [
      await bench.deliveries.good(bench.payment({ state: null, recipient: null, invoice: null })),
      await bench.deliveries.good(bench.payment({ recipient: { title: 'Doctor', subtitle: null } })),
    ],
  }),
} satisfies ProbeTable

const rule = '6 signature rule 3: look up the version, ignore unknown fields'
const other = 'ab'.repeat(32)

/** A probe of a valid delivery whose header has another allowed form than today's. */
const form = (sent: string, cause: DoctorCauseCode, header: (parts: SignedParts) => string, clause = rule) =>
  accepted({ sent, clause, cause, make: async (bench) => [await withHeader(bench, header)] })

export const headerProbes = {
  'second-scheme': form(
    't=…,v1=<valid>,v2=<other>',
    'scheme-by-position',
    ({ t, v1 }) => `t=${t},v1=${v1},v2=${other}`,
  ),
  'second-scheme-first': form(
    't=…,v2=<other>,v1=<valid>',
    'scheme-by-position',
    ({ t, v1 }) => `t=${t},v2=${other},v1=${v1}`,
  ),
  'reordered-fields': form(
    'v1=<valid>,t=…',
    'field-order',
    ({ t, v1 }) => `v1=${v1},t=${t}`,
    '6 signature rule 3: the header is a list of name=value fields',
  ),
  'unknown-header-field': form('t=…,kid=2,v1=<valid>', 'rejects-header-fields', ({ t, v1 }) => `t=${t},kid=2,v1=${v1}`),
  'header-case': accepted({
    sent: 'header names in lower case, then in upper case',
    clause: '6 Headers; HTTP header names have no case',
    cause: 'header-case',
    effects: 2,
    async make(bench) {
      const spelled = async (spell: (name: string) => string) => {
        const { headers, body } = await bench.deliveries.good(bench.payment())
        return {
          headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [spell(name), value])),
          body,
        }
      }
      return [await spelled((name) => name.toLowerCase()), await spelled((name) => name.toUpperCase())]
    },
  }),
} satisfies ProbeTable

const order = '6 receiver obligations: discard a version that is not greater'
const atOnce = '2xx, or 409, 423, 425, 429 or 503 and then 2xx'

export const versionProbes = {
  duplicate: accepted({
    sent: 'one delivery three times: signed again, then unchanged',
    clause: '6 receiver obligations: deliveries can repeat',
    cause: 'rejects-duplicates',
    async make(bench) {
      const first = await bench.deliveries.good(bench.payment())
      const again = await bench.deliveries.duplicate(first)
      return [first, again, again]
    },
  }),
  'lower-version': accepted({
    sent: 'version 2, then version 1 of the same payment',
    clause: order,
    cause: 'rejects-lower-version',
    async make(bench) {
      const pending = bench.payment()
      return bench.deliveries.reordered([pending, { ...pending, version: 2, state: 'success' }])
    },
  }),
  'version-gap': accepted({
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
  'same-hash-other-chain': accepted({
    sent: 'one transaction hash on two chains',
    clause: '6 receiver obligations: chainId, txHash and version identify a snapshot',
    cause: 'confuses-chains',
    effects: 2,
    async make(bench) {
      const one = bench.payment({ chainId: '1' })
      return [await bench.deliveries.good(one), await bench.deliveries.good({ ...one, chainId: '137' })]
    },
  }),
  'two-at-once': {
    sent: 'one delivery twice at the same time',
    expected: atOnce,
    clause: '6 receiver obligations: handlers are idempotent on the triple',
    effects: 1,
    async run(bench) {
      const delivery = await bench.deliveries.good(bench.payment())
      return sendAtOnce(bench, [delivery, delivery])
    },
  },
  'two-versions-at-once': {
    sent: 'versions 1 and 2 of a payment at the same time',
    expected: atOnce,
    clause: order,
    // The lower version has an effect only if it arrives first.
    effects: null,
    async run(bench) {
      const pending = bench.payment()
      const both = [pending, { ...pending, version: 2, state: 'success' as const }]
      return sendAtOnce(bench, await Promise.all(both.map((snapshot) => bench.deliveries.good(snapshot))))
    },
  },
} satisfies ProbeTable

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
