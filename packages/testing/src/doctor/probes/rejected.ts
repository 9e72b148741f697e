/** Probes of invalid deliveries, the freshness window and content types. Source: docs/interface.md 6, 8. @module */
import type { SignedDelivery } from '../../deliveries.js'
import type { ProbeSpec, ProbeTable } from './probe.js'
import { isAccepted, judgeAccepted, judgeRejected, rejected, sendInTurn, transportCause, withHeader } from './probe.js'

const codeClause = '6 signature rule 1: v1 is the HMAC with the signing secret'
const bytesClause = '6 signature rule 2: over the raw bytes'
const windowClause = '6 signature rule 5: 300 seconds between t and the clock'
const forgedCode = '5e'.repeat(32)
const hourSeconds = 3_600

function changeLastDigit(code: string): string {
  return `${code.slice(0, -1)}${code.endsWith('0') ? '1' : '0'}`
}

export const rejectedProbes = {
  unsigned: rejected({
    sent: 'no signature header, then an empty one',
    clause: codeClause,
    cause: 'no-verification',
    async make(bench) {
      const unsigned = bench.deliveries.unsigned(bench.payment())
      return [unsigned, bench.deliver(unsigned.body, '')]
    },
  }),
  'malformed-signature': rejected({
    sent: 'headers without v1, without t, and with a malformed t',
    clause: codeClause,
    cause: 'malformed-accepted',
    make: async (bench) => [
      await withHeader(bench, ({ t }) => `t=${t}`),
      await withHeader(bench, ({ v1 }) => `v1=${v1}`),
      await withHeader(bench, ({ v1 }) => `t=now,v1=${v1}`),
    ],
  }),
  forged: rejected({
    sent: 'an invented signature of 64 hex digits',
    clause: codeClause,
    cause: 'presence-only',
    make: async (bench) => [await withHeader(bench, ({ t }) => `t=${t},v1=${forgedCode}`)],
  }),
  'other-secret': rejected({
    sent: 'a signature made with another secret',
    clause: codeClause,
    cause: 'other-secret-accepted',
    make: async (bench) => [await bench.deliveries.forged(bench.payment())],
  }),
  'partial-signature': rejected({
    sent: 'signatures with a changed end, cut in half, and empty',
    clause: '6 signature rules 1 and 5: compare the whole signature',
    cause: 'partial-comparison',
    make: async (bench) => [
      await withHeader(bench, ({ t, v1 }) => `t=${t},v1=${v1.slice(0, 32)}${forgedCode.slice(32)}`),
      await withHeader(bench, ({ t, v1 }) => `t=${t},v1=${changeLastDigit(v1)}`),
      await withHeader(bench, ({ t, v1 }) => `t=${t},v1=${v1.slice(0, 32)}`),
      await withHeader(bench, ({ t }) => `t=${t},v1=`),
    ],
  }),
  'wrong-scheme': rejected({
    sent: 'the right signature as v2, a wrong one as v1',
    clause: '6 signature rule 3: look up the version that is implemented',
    cause: 'accepts-other-scheme',
    make: async (bench) => [
      await withHeader(bench, ({ t, v1 }) => `t=${t},v1=${forgedCode},v2=${v1}`),
      await withHeader(bench, ({ t, v1 }) => `t=${t},v2=${v1}`),
    ],
  }),
  tampered: rejected({
    sent: 'a blank added after signing; the parsed JSON is unchanged',
    clause: bytesClause,
    cause: 'body-reserialized',
    make: async (bench) => [await bench.deliveries.tampered(bench.payment())],
  }),
  'changed-amount': rejected({
    sent: 'another amount than the signed one',
    clause: bytesClause,
    cause: 'tampering-accepted',
    async make(bench) {
      const { body, t, v1 } = await bench.sign(JSON.stringify(bench.payment()))
      const changed = new TextDecoder().decode(body).replace('"1.00"', '"9.00"')
      return [bench.deliver(new TextEncoder().encode(changed), `t=${t},v1=${v1}`)]
    },
  }),
  stale: rejected({
    sent: 'a signature of an hour ago',
    clause: windowClause,
    cause: 'accepts-old',
    make: async (bench) => [await bench.deliveries.stale(bench.payment(), hourSeconds)],
  }),
  future: rejected({
    sent: 'a signature of an hour ahead',
    clause: windowClause,
    cause: 'accepts-future',
    make: async (bench) => [await bench.deliveries.future(bench.payment(), hourSeconds)],
  }),
} satisfies ProbeTable

/** An age outside the window, in seconds, even if the clocks differ by almost half a minute. */
const secondsOutside = 330
/** An age within the window, in seconds. */
const secondsInside = 240

export const windowProbes = {
  'just-stale': withAge(secondsOutside),
  'just-future': withAge(-secondsOutside),
  'slightly-old': withAge(secondsInside),
  'slightly-ahead': withAge(-secondsInside),
} satisfies ProbeTable

/**
 * A probe of the window; a negative age lies in the future. Its failure is only a warning, because the tolerance is
 * recommended, not required.
 */
function withAge(ageSeconds: number): ProbeSpec {
  const distance = Math.abs(ageSeconds)
  const isInside = distance === secondsInside
  return {
    sent: `a signature of ${distance} seconds ${ageSeconds > 0 ? 'ago' : 'ahead'}`,
    expected: isInside ? '2xx' : '4xx',
    clause: '6 signature rule 5 and 8: the recommended tolerance is 300 seconds',
    effects: null,
    async run(bench) {
      const answers = [await bench.send(await bench.deliveries.stale(bench.payment(), ageSeconds))]
      const cause = isInside ? 'window-narrow' : 'window-wide'
      const judgement = (isInside ? judgeAccepted : judgeRejected)(answers, cause, bench.timeoutMs)
      return judgement.cause === cause ? { ...judgement, verdict: 'warn' } : judgement
    },
  }
}

const header = 'Content-Type'

/** Replaces the content type; null removes it. */
function withContentType({ headers, body }: SignedDelivery, contentType: string | null): SignedDelivery {
  const { [header]: _, ...rest } = headers
  return { headers: contentType === null ? rest : { ...rest, [header]: contentType }, body }
}

export const contentTypeProbes = {
  charset: {
    sent: 'application/json; charset=utf-8',
    expected: '2xx, or 4xx with a warning',
    clause: '6 Delivery: Content-Type application/json',
    effects: 1,
    async run(bench) {
      const delivery = withContentType(await bench.deliveries.good(bench.payment()), 'application/json; charset=utf-8')
      const judgement = judgeAccepted([await bench.send(delivery)], 'content-type-exact', bench.timeoutMs)
      if (judgement.cause !== 'content-type-exact') return judgement
      const isServerError = judgement.answers.some(({ status }) => Number(status) >= 500)
      return isServerError ? { ...judgement, cause: 'fails-on-content-type' } : { ...judgement, verdict: 'warn' }
    },
  },
  'other-content-type': {
    sent: 'a valid and a forged delivery as text/plain, then without a type',
    expected: 'valid: 2xx or 4xx; forged: 4xx',
    clause: '6 signature rule 2: verify before anything else',
    effects: null,
    async run(bench) {
      const good = await bench.deliveries.good(bench.payment())
      const forged = await bench.deliveries.forged(bench.payment())
      const withTypes = (delivery: SignedDelivery) =>
        ['text/plain', null].map((type) => withContentType(delivery, type))
      const forgedAnswers = await sendInTurn(bench, withTypes(forged))
      const validAnswers = await sendInTurn(bench, withTypes(good))
      const answers = [...forgedAnswers, ...validAnswers]
      const judgement = judgeRejected(forgedAnswers, 'skips-other-content-types', bench.timeoutMs)
      if (judgement.verdict === 'fail') return { ...judgement, answers }
      const failed = validAnswers.find(
        (answer) => !isAccepted(answer) && !(Number(answer.status) >= 400 && Number(answer.status) < 500),
      )
      if (failed === undefined) return { ...judgement, answers }
      return { verdict: 'fail', cause: transportCause(failed, bench.timeoutMs) ?? 'fails-on-content-type', answers }
    },
  },
} satisfies ProbeTable
