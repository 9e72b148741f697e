/** Probes of valid deliveries: bodies, headers, versions. Source: docs/interface.md 2.3, 3, 6. @module */
import { paymentStates } from '@payment-integration/contract'
import type { SignedDelivery } from '../../deliveries.js'
import type { DoctorCauseCode } from '../causes.js'
import type { SocketAnswer } from '../send.js'
import type { Judgment, ProbeContext, ProbeTable } from './probe.js'
import { accepted, judgeAccepted, sendInTurn, successClause } from './probe.js'

const rawBytesClause = '6 signature rule 2: verify over the raw bytes before any JSON parsing'
const unusualTitle = `Doctor \u00fc\u00e9\u4e2d\u{1f4b3} "quoted" \\ / \u2028`
const longTitle = 'A long merchant title. '.repeat(180)

export const bodyProbes = {
  good: accepted({
    sent: 'a valid delivery, as the service sends it',
    clause: successClause,
    cause: 'wrong-secret',
    deliveries: ({ good, newPayment }) => [good(newPayment())],
  }),
  'pretty-printed': accepted({
    sent: 'indented JSON, signed over these bytes',
    clause: rawBytesClause,
    cause: 'body-reserialized',
    deliveries: ({ newPayment, signBody }) => [signBody(`${JSON.stringify(newPayment(), null, 2)}\n`)],
  }),
  unicode: accepted({
    sent: 'a non-ASCII title, plain and with JSON escapes',
    clause: rawBytesClause,
    cause: 'body-decoded',
    effects: 2,
    deliveries({ newPayment, signBody }) {
      const buildText = () => JSON.stringify(newPayment({ recipient: { title: unusualTitle, subtitle: null } }))
      // Both spellings are the same JSON, which also allows an escaped slash.
      const escaped = buildText()
        .replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
        .replaceAll('/', '\\/')
      return [signBody(buildText()), signBody(escaped)]
    },
  }),
  'long-text': accepted({
    sent: 'a merchant title of 4 KiB',
    clause: '2.3: recipient.title is a string without a limit',
    cause: 'fails-on-long-text',
    deliveries: ({ good, newPayment }) => [good(newPayment({ recipient: { title: longTitle, subtitle: null } }))],
  }),
  'unknown-fields': accepted({
    sent: 'additional fields in snapshot, recipient and invoice',
    clause: '2.3: every field is always present; a newer service may add some',
    cause: 'rejects-unknown-fields',
    deliveries({ newPayment, signBody }) {
      const { recipient, invoice, ...others } = newPayment()
      const added = { addedLater: { nested: [1, 'two', null] } }
      const nested = { recipient: { ...recipient, ...added }, invoice: { ...invoice, ...added } }
      return [signBody(JSON.stringify({ ...others, ...nested, ...added }))]
    },
  }),
  'unknown-state': accepted({
    sent: 'the state "added_later"',
    clause: '3: payment states; a newer service may add one',
    cause: 'rejects-unknown-state',
    deliveries: ({ newPayment, signBody }) => [signBody(JSON.stringify({ ...newPayment(), state: 'added_later' }))],
  }),
  'every-state': accepted({
    sent: 'one payment in each of the six states',
    clause: '3: payment states',
    cause: 'rejects-a-state',
    effects: paymentStates.length,
    deliveries: ({ good, newPayment }) => paymentStates.map((state) => good(newPayment({ state }))),
  }),
  'null-fields': accepted({
    sent: 'null for state, recipient and invoice, then for the subtitle',
    clause: '2.3: state, recipient, recipient.subtitle and invoice may be null',
    cause: 'fails-on-null',
    effects: 2,
    deliveries: ({ good, newPayment }) => [
      good(newPayment({ state: null, recipient: null, invoice: null })),
      good(newPayment({ recipient: { title: 'Doctor', subtitle: null } })),
    ],
  }),
} satisfies ProbeTable

const fieldsClause = '6 signature rule 3: look up the version, ignore unknown fields'
const otherCode = 'ab'.repeat(32)

/** A probe of a valid delivery whose header has another allowed form than today's. */
const acceptedHeader = (sent: string, cause: DoctorCauseCode, clause = fieldsClause) =>
  accepted({
    sent,
    clause,
    cause,
    deliveries: ({ withHeader }) => [
      withHeader(({ t, v1 }) => sent.replace('…', t).replace('<valid>', v1).replace('<other>', otherCode)),
    ],
  })

export const headerProbes = {
  'second-scheme': acceptedHeader('t=…,v1=<valid>,v2=<other>', 'scheme-by-position'),
  'second-scheme-first': acceptedHeader('t=…,v2=<other>,v1=<valid>', 'scheme-by-position'),
  'reordered-fields': acceptedHeader(
    'v1=<valid>,t=…',
    'field-order',
    '6 signature rule 3: the header is a list of name=value fields',
  ),
  'unknown-header-field': acceptedHeader('t=…,kid=2,v1=<valid>', 'rejects-header-fields'),
  'header-case': accepted({
    sent: 'header names in lower case, then in upper case',
    clause: '6 Headers; HTTP header names have no case',
    cause: 'header-case',
    effects: 2,
    deliveries({ good, newPayment }) {
      const buildRenamed = async (rename: (name: string) => string) => {
        const { headers, body } = await good(newPayment())
        const renamed = Object.entries(headers).map(([name, value]) => [rename(name), value])
        return { headers: Object.fromEntries(renamed), body }
      }
      return [buildRenamed((name) => name.toLowerCase()), buildRenamed((name) => name.toUpperCase())]
    },
  }),
} satisfies ProbeTable

const orderClause = '6 receiver obligations: discard a version that is not greater'
const acceptedAfterRetry = '2xx, or 409, 423, 425, 429 or 503 and then 2xx'

export const versionProbes = {
  duplicate: accepted({
    sent: 'one delivery three times: signed again, then unchanged',
    clause: '6 receiver obligations: deliveries can repeat',
    cause: 'rejects-duplicates',
    async deliveries({ duplicate, good, newPayment }) {
      const first = await good(newPayment())
      const again = await duplicate(first)
      return [first, again, again]
    },
  }),
  'lower-version': accepted({
    sent: 'version 2, then version 1 of the same payment',
    clause: orderClause,
    cause: 'rejects-lower-version',
    deliveries({ newPayment, reordered }) {
      const pending = newPayment()
      return reordered([pending, { ...pending, version: 2, state: 'success' }])
    },
  }),
  'version-gap': accepted({
    sent: 'version 4 as the first of a payment, then version 9',
    clause: '6 receiver obligations: deliveries are unordered',
    cause: 'rejects-version-gap',
    effects: 2,
    deliveries({ good, newPayment }) {
      const fourth = newPayment({ version: 4 })
      return [good(fourth), good({ ...fourth, version: 9, state: 'success' })]
    },
  }),
  'same-hash-other-chain': accepted({
    sent: 'one transaction hash on two chains',
    clause: '6 receiver obligations: chainId, txHash and version identify a snapshot',
    cause: 'confuses-chains',
    effects: 2,
    deliveries({ good, newPayment }) {
      const payment = newPayment({ chainId: '1' })
      return [good(payment), good({ ...payment, chainId: '137' })]
    },
  }),
  'two-at-once': {
    sent: 'one delivery twice at the same time',
    expected: acceptedAfterRetry,
    clause: '6 receiver obligations: handlers are idempotent on the triple',
    effects: 1,
    async run(context) {
      const delivery = await context.good(context.newPayment())
      return sendAtOnce(context, [delivery, delivery])
    },
  },
  'two-versions-at-once': {
    sent: 'versions 1 and 2 of a payment at the same time',
    expected: acceptedAfterRetry,
    clause: orderClause,
    // The lower version has an effect only if it arrives first.
    effects: null,
    async run(context) {
      const { good, newPayment } = context
      const pending = newPayment()
      const success = { ...pending, version: 2, state: 'success' as const }
      return sendAtOnce(context, [await good(pending), await good(success)])
    },
  },
} satisfies ProbeTable

/** Sends the deliveries at the same time, then once more those whose answers ask for a retry. */
async function sendAtOnce(context: ProbeContext, deliveries: readonly SignedDelivery[]): Promise<Judgment> {
  const firstAnswers = await Promise.all(deliveries.map((delivery) => context.send(delivery)))
  const retries = deliveries.filter((_, index) => asksForRetry(firstAnswers[index]))
  const retryAnswers = await sendInTurn(context, retries)
  const finalAnswers = [...firstAnswers.filter((answer) => !asksForRetry(answer)), ...retryAnswers]
  const judgment = judgeAccepted(finalAnswers, 'fails-at-once', context.timeoutMs)
  return { ...judgment, answers: [...firstAnswers, ...retryAnswers] }
}

/** Whether the status asks for a retry, as a receiver may while it handles another delivery of the same payment. */
function asksForRetry(answer: SocketAnswer | undefined): boolean {
  return [409, 423, 425, 429, 503].includes(answer?.status ?? 0)
}
