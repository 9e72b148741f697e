/** Probes that a receiver must reject. Source: docs/interface.md 6, signature rules 1, 2, 3 and 5. @module */
import { type ProbeSpec, rejected, withHeader } from './probe.js'

const rule = '6 signature rule 1: v1 is the HMAC with the signing secret'
const bytes = '6 signature rule 2: over the raw bytes'
const window = '6 signature rule 5: 300 seconds between t and the clock'
const forgedCode = '5e'.repeat(32)
const hour = 3_600

/** Replaces the last hex digit by another one. */
function differInLast(code: string): string {
  return `${code.slice(0, -1)}${code.endsWith('0') ? '1' : '0'}`
}

/** Probes of invalid deliveries. */
export const rejectedProbes: readonly ProbeSpec[] = [
  rejected({
    name: 'unsigned',
    sent: 'no signature header, then an empty one',
    clause: rule,
    cause: 'no-verification',
    async make(bench) {
      const unsigned = bench.deliveries.unsigned(bench.payment())
      return [unsigned, bench.deliver(unsigned.body, '')]
    },
  }),
  rejected({
    name: 'malformed-signature',
    sent: 'a header without v1, without t, and with a t that is no number',
    clause: rule,
    cause: 'malformed-accepted',
    make: async (bench) => [
      await withHeader(bench, ({ t }) => `t=${t}`),
      await withHeader(bench, ({ v1 }) => `v1=${v1}`),
      await withHeader(bench, ({ v1 }) => `t=now,v1=${v1}`),
    ],
  }),
  rejected({
    name: 'forged',
    sent: 'an invented signature of 64 hex digits',
    clause: rule,
    cause: 'presence-only',
    make: async (bench) => [await withHeader(bench, ({ t }) => `t=${t},v1=${forgedCode}`)],
  }),
  rejected({
    name: 'other-secret',
    sent: 'a signature made with another secret',
    clause: rule,
    cause: 'other-secret-accepted',
    make: async (bench) => [await bench.deliveries.forged(bench.payment())],
  }),
  rejected({
    name: 'partial-signature',
    sent: 'the right signature with another end, without its end, and empty',
    clause: '6 signature rules 1 and 5: compare the whole signature',
    cause: 'partial-comparison',
    make: async (bench) => [
      await withHeader(bench, ({ t, v1 }) => `t=${t},v1=${v1.slice(0, 32)}${forgedCode.slice(32)}`),
      await withHeader(bench, ({ t, v1 }) => `t=${t},v1=${differInLast(v1)}`),
      await withHeader(bench, ({ t, v1 }) => `t=${t},v1=${v1.slice(0, 32)}`),
      await withHeader(bench, ({ t }) => `t=${t},v1=`),
    ],
  }),
  rejected({
    name: 'wrong-scheme',
    sent: 'the right signature as v2, and an invented one as v1',
    clause: '6 signature rule 3: look up the version that is implemented',
    cause: 'accepts-other-scheme',
    make: async (bench) => [
      await withHeader(bench, ({ t, v1 }) => `t=${t},v1=${forgedCode},v2=${v1}`),
      await withHeader(bench, ({ t, v1 }) => `t=${t},v2=${v1}`),
    ],
  }),
  rejected({
    name: 'tampered',
    sent: 'a blank added after signing; the parsed JSON is unchanged',
    clause: bytes,
    cause: 'body-reserialised',
    make: async (bench) => [await bench.deliveries.tampered(bench.payment())],
  }),
  rejected({
    name: 'changed-amount',
    sent: 'another amount than the signed one',
    clause: bytes,
    cause: 'tampering-accepted',
    async make(bench) {
      const { body, t, v1 } = await bench.sign(JSON.stringify(bench.payment()))
      const changed = new TextDecoder().decode(body).replace('"1.00"', '"9.00"')
      return [bench.deliver(new TextEncoder().encode(changed), `t=${t},v1=${v1}`)]
    },
  }),
  rejected({
    name: 'stale',
    sent: 'a signature of an hour ago',
    clause: window,
    cause: 'accepts-old',
    make: async (bench) => [await bench.deliveries.stale(bench.payment(), hour)],
  }),
  rejected({
    name: 'future',
    sent: 'a signature of an hour ahead',
    clause: window,
    cause: 'accepts-future',
    make: async (bench) => [await bench.deliveries.future(bench.payment(), hour)],
  }),
]
