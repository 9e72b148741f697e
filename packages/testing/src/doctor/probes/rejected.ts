/** Probes of invalid deliveries, the freshness window and content types. Source: docs/interface.md 6, 8. @module */
import type { SignedDelivery } from '../../deliveries.js'
import type { ProbeSpec, ProbeTable } from './probe.js'
import { accepted, fail, findTransportCause, isServerError, judgeRejected, rejected, sendInTurn } from './probe.js'

const signatureClause = '6 signature rule 1: v1 is the HMAC with the signing secret'
const rawBytesClause = '6 signature rule 2: over the raw bytes'
const windowClause = '6 signature rule 5: 300 seconds between t and the clock'
const inventedCode = '5e'.repeat(32)
const hourSeconds = 3_600

function changeLastDigit(code: string): string {
  return `${code.slice(0, -1)}${code.endsWith('0') ? '1' : '0'}`
}

export const rejectedProbes = {
  unsigned: rejected({
    sent: 'no signature header, then an empty one',
    clause: signatureClause,
    cause: 'no-verification',
    async deliveries({ newPayment, signBody, unsigned }) {
      const payment = newPayment()
      return [unsigned(payment), await signBody(JSON.stringify(payment), () => '')]
    },
  }),
  'malformed-signature': rejected({
    sent: 'headers without v1, without t, and with a malformed t',
    clause: signatureClause,
    cause: 'malformed-accepted',
    deliveries: ({ withHeader }) => [
      withHeader(({ t }) => `t=${t}`),
      withHeader(({ v1 }) => `v1=${v1}`),
      withHeader(({ v1 }) => `t=now,v1=${v1}`),
    ],
  }),
  forged: rejected({
    sent: 'an invented signature of 64 hex digits',
    clause: signatureClause,
    cause: 'presence-only',
    deliveries: ({ withHeader }) => [withHeader(({ t }) => `t=${t},v1=${inventedCode}`)],
  }),
  'other-secret': rejected({
    sent: 'a signature made with another secret',
    clause: signatureClause,
    cause: 'other-secret-accepted',
    deliveries: ({ forged, newPayment }) => [forged(newPayment())],
  }),
  'partial-signature': rejected({
    sent: 'signatures with a changed end, cut in half, and empty',
    clause: '6 signature rules 1 and 5: compare the whole signature',
    cause: 'partial-comparison',
    deliveries: ({ withHeader }) => [
      withHeader(({ t, v1 }) => `t=${t},v1=${v1.slice(0, 32)}${inventedCode.slice(32)}`),
      withHeader(({ t, v1 }) => `t=${t},v1=${changeLastDigit(v1)}`),
      withHeader(({ t, v1 }) => `t=${t},v1=${v1.slice(0, 32)}`),
      withHeader(({ t }) => `t=${t},v1=`),
    ],
  }),
  'wrong-scheme': rejected({
    sent: 'the right signature as v2, a wrong one as v1',
    clause: '6 signature rule 3: look up the version that is implemented',
    cause: 'accepts-other-scheme',
    deliveries: ({ withHeader }) => [
      withHeader(({ t, v1 }) => `t=${t},v1=${inventedCode},v2=${v1}`),
      withHeader(({ t, v1 }) => `t=${t},v2=${v1}`),
    ],
  }),
  tampered: rejected({
    sent: 'a blank added after signing; the parsed JSON is unchanged',
    clause: rawBytesClause,
    cause: 'body-reserialized',
    deliveries: ({ newPayment, tampered }) => [tampered(newPayment())],
  }),
  'changed-amount': rejected({
    sent: 'another amount than the signed one',
    clause: rawBytesClause,
    cause: 'tampering-accepted',
    async deliveries({ good, newPayment }) {
      const { headers, body } = await good(newPayment())
      const changed = new TextDecoder().decode(body).replace('"1.00"', '"9.00"')
      return [{ headers, body: new TextEncoder().encode(changed) }]
    },
  }),
  stale: rejected({
    sent: 'a signature of an hour ago',
    clause: windowClause,
    cause: 'accepts-old',
    deliveries: ({ newPayment, stale }) => [stale(newPayment(), hourSeconds)],
  }),
  future: rejected({
    sent: 'a signature of an hour ahead',
    clause: windowClause,
    cause: 'accepts-future',
    deliveries: ({ future, newPayment }) => [future(newPayment(), hourSeconds)],
  }),
} satisfies ProbeTable

/** An age outside the window, in seconds, even if the clocks differ by almost half a minute. */
const secondsOutside = 330
/** An age within the window, in seconds. */
const secondsInside = 240

export const windowProbes = {
  'just-stale': probeWindow(secondsOutside),
  'just-future': probeWindow(-secondsOutside),
  'slightly-old': probeWindow(secondsInside),
  'slightly-ahead': probeWindow(-secondsInside),
} satisfies ProbeTable

/** A probe of the window; a negative age lies ahead. The tolerance is recommended, so a failure only warns. */
function probeWindow(ageSeconds: number): ProbeSpec {
  const distance = Math.abs(ageSeconds)
  const isInside = distance === secondsInside
  const cause = isInside ? 'window-narrow' : 'window-wide'
  return (isInside ? accepted : rejected)({
    sent: `a signature of ${distance} seconds ${ageSeconds > 0 ? 'ago' : 'ahead'}`,
    clause: '6 signature rule 5 and 8: the recommended tolerance is 300 seconds',
    cause,
    effects: null,
    deliveries: ({ newPayment, stale }) => [stale(newPayment(), ageSeconds)],
    refine: (judgment) => (judgment.cause === cause ? { ...judgment, verdict: 'warn' } : judgment),
  })
}

const contentTypeHeader = 'Content-Type'

/** Replaces the content type; null removes it. */
function withContentType({ headers, body }: SignedDelivery, contentType: string | null): SignedDelivery {
  const { [contentTypeHeader]: _, ...others } = headers
  return { headers: contentType === null ? others : { ...others, [contentTypeHeader]: contentType }, body }
}

export const contentTypeProbes = {
  charset: {
    ...accepted({
      sent: 'application/json; charset=utf-8',
      clause: '6 Delivery: Content-Type application/json',
      cause: 'content-type-exact',
      deliveries: async ({ good, newPayment }) => [
        withContentType(await good(newPayment()), 'application/json; charset=utf-8'),
      ],
      refine(judgment) {
        if (judgment.cause !== 'content-type-exact') return judgment
        return judgment.answers.some(isServerError)
          ? { ...judgment, cause: 'fails-on-content-type' }
          : { ...judgment, verdict: 'warn' }
      },
    }),
    expected: '2xx, or 4xx with a warning',
  },
  'other-content-type': {
    sent: 'a valid and a forged delivery as text/plain, then without a type',
    expected: 'valid: 2xx or 4xx; forged: 4xx',
    clause: '6 signature rule 2: verify before anything else',
    effects: null,
    async run(context) {
      const { timeoutMs } = context
      const valid = await context.good(context.newPayment())
      const forged = await context.forged(context.newPayment())
      const sendWithTypes = (delivery: SignedDelivery) =>
        sendInTurn(context, [withContentType(delivery, 'text/plain'), withContentType(delivery, null)])
      const forgedAnswers = await sendWithTypes(forged)
      const validAnswers = await sendWithTypes(valid)
      const answers = [...forgedAnswers, ...validAnswers]
      const judgment = judgeRejected(forgedAnswers, 'skips-other-content-types', timeoutMs)
      if (judgment.verdict === 'fail') return { ...judgment, answers }
      const failed = validAnswers.find(({ status }) => ![2, 4].includes(Math.floor(Number(status) / 100)))
      if (failed === undefined) return { ...judgment, answers }
      return fail(findTransportCause(failed, timeoutMs) ?? 'fails-on-content-type', answers)
    },
  },
} satisfies ProbeTable
