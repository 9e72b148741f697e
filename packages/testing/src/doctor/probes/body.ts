/** Probes of the body: raw bytes, unknown parts, null fields. Source: docs/interface.md 2.3, 3, 6. @module */
import { paymentStates } from '@payment-integration/contract'
import { accepted, anyOther, type ProbeSpec } from './probe.js'

const raw = '6 signature rule 2: verify over the raw bytes before any JSON parsing'
const title = `Doctor \u00fc\u00e9\u4e2d\u{1f4b3} "quoted" \\ / \u2028`
const longTitle = 'A long merchant title. '.repeat(180)

/** Probes of valid deliveries with unusual bodies. */
export const bodyProbes: readonly ProbeSpec[] = [
  accepted({
    name: 'good',
    sent: 'a valid delivery, as the service sends it',
    clause: anyOther,
    cause: 'wrong-secret',
    effects: 1,
    make: async (bench) => [await bench.deliveries.good(bench.payment())],
  }),
  accepted({
    name: 'pretty-printed',
    sent: 'the JSON with line breaks and indentation, signed over these bytes',
    clause: raw,
    cause: 'body-reserialised',
    effects: 1,
    make: async (bench) => [await bench.deliverText(`${JSON.stringify(bench.payment(), null, 2)}\n`)],
  }),
  accepted({
    name: 'unicode',
    sent: 'a title with non-ASCII characters, and the same with JSON escapes',
    clause: raw,
    cause: 'body-decoded',
    effects: 2,
    async make(bench) {
      const text = () => JSON.stringify(bench.payment({ recipient: { title, subtitle: null } }))
      // Both spellings are the same JSON. A slash may be escaped, too.
      const escaped = text()
        .replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
        .replaceAll('/', '\\/')
      return [await bench.deliverText(text()), await bench.deliverText(escaped)]
    },
  }),
  accepted({
    name: 'long-text',
    sent: 'a merchant title of 4 KiB',
    clause: '2.3: recipient.title is a string without a limit',
    cause: 'fails-on-long-text',
    effects: 1,
    make: async (bench) => [
      await bench.deliveries.good(bench.payment({ recipient: { title: longTitle, subtitle: null } })),
    ],
  }),
  accepted({
    name: 'unknown-fields',
    sent: 'additional fields in the snapshot, the recipient and the invoice',
    clause: '2.3: every field is always present; a newer service may add some',
    cause: 'rejects-unknown-fields',
    effects: 1,
    async make(bench) {
      const { recipient, invoice, ...rest } = bench.payment()
      const added = { addedLater: { nested: [1, 'two', null] } }
      return [
        await bench.deliverText(
          JSON.stringify({
            ...rest,
            recipient: { ...recipient, ...added },
            invoice: { ...invoice, ...added },
            ...added,
          }),
        ),
      ]
    },
  }),
  accepted({
    name: 'unknown-state',
    sent: 'the state "added_later"',
    clause: '3: payment states; a newer service may add one',
    cause: 'rejects-unknown-state',
    effects: 1,
    make: async (bench) => [await bench.deliverText(JSON.stringify({ ...bench.payment(), state: 'added_later' }))],
  }),
  accepted({
    name: 'every-state',
    sent: 'one payment in each of the six states',
    clause: '3: payment states',
    cause: 'rejects-a-state',
    effects: paymentStates.length,
    make: (bench) => Promise.all(paymentStates.map((state) => bench.deliveries.good(bench.payment({ state })))),
  }),
  accepted({
    name: 'null-fields',
    sent: 'null for state, recipient and invoice, then for the subtitle',
    clause: '2.3: state, recipient, recipient.subtitle and invoice may be null',
    cause: 'fails-on-null',
    effects: 2,
    make: async (bench) => [
      await bench.deliveries.good(bench.payment({ state: null, recipient: null, invoice: null })),
      await bench.deliveries.good(bench.payment({ recipient: { title: 'Doctor', subtitle: null } })),
    ],
  }),
]
