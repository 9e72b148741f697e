import type { Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import type { DoctorCauseCode } from '../../src/doctor/causes.js'
import { type DoctorOptions, runDoctor } from '../../src/exports/doctor.js'
import { apiSecret, correct, integrationAddress, plant, type Steps, signingSecret } from './planted-receiver.js'

/** No verdict depends on the speed of this machine. */
const unhurried = 120_000

function examine(url: string, options: Partial<DoctorOptions> = {}) {
  return runDoctor({ url, signingSecret, integrationAddress, timeoutMs: unhurried, ...options })
}

/** A fault, the cause that the doctor must name, the probes that must name it, and the steps that have the fault. */
type Planted = [
  fault: string,
  cause: DoctorCauseCode,
  probes: string,
  steps: Partial<Steps>,
  options?: Partial<DoctorOptions> | 'counts effects',
]

const anyFields = (header: string) => {
  const [, t = '0'] = /t=(\d+)/.exec(header) ?? []
  return { t, code: '' }
}
const served = new WeakSet<Socket>()
const status = (code: number, headers: Record<string, string> = {}): Steps['before'] => {
  return (request, response) => {
    request.resume()
    response.writeHead(code, headers).end()
    return true
  }
}
/** Ages in seconds that are accepted. */
const window = (oldest: number, newest: number) => ({ isFresh: (age: number) => age <= oldest && age >= newest })
/** Bytes that are verified in place of the body. */
const verifying = (verifiedBytes: Steps['verifiedBytes']) => ({ verifiedBytes })
/** Answers a status to snapshots that have something. */
const rejecting = (code: number, has: (snapshot: Parameters<Steps['inspect']>[0]) => boolean) => ({
  inspect: (snapshot: Parameters<Steps['inspect']>[0]) => (has(snapshot) ? code : null),
})
/** Answers a status to versions, by the stored one, or 0. */
const rejectingVersions = (code: number, has: (version: number, stored: number) => boolean): Partial<Steps> => ({
  store(versions, snapshot) {
    const stored = versions.get(`${snapshot.chainId}:${snapshot.txHash}`) ?? 0
    return has(snapshot.version, stored) ? [code, false] : correct.store(versions, snapshot)
  },
})
/** Answers a status to other content types. */
const accepting = (types: RegExp, code: number): Partial<Steps> => ({
  before: (request, response) => !types.test(request.headers['content-type'] ?? '') && status(code)(request, response),
})
const equal = (isEqual: Steps['isEqual']) => ({ isEqual })
const fields = (fieldsOf: Steps['fieldsOf']) => ({ fieldsOf })
const anyProof = 'unsigned malformed-signature forged other-secret partial-signature tampered stale future'
const anyCode = 'forged other-secret partial-signature tampered changed-amount'
const any = Number.POSITIVE_INFINITY

const verification: readonly Planted[] = [
  ['verifies nothing', 'no-verification', anyProof, { isChecked: () => false }],
  ['looks only for a signature', 'presence-only', anyCode, { fieldsOf: anyFields, isEqual: () => true }],
  ['answers 200 first', 'answers-before-verifying', 'unsigned forged stale', { answersFirst: true }, 'counts effects'],
  [
    'verifies JSON that was parsed and written again',
    'body-reserialized',
    'pretty-printed unicode tampered',
    verifying((body) => JSON.stringify(JSON.parse(body.toString()))),
  ],
  [
    'verifies a parsed object',
    'body-parsed',
    'good pretty-printed duplicate keep-alive',
    verifying((body) => String(JSON.parse(body.toString()))),
  ],
  ['decodes the body as Latin-1', 'body-decoded', 'unicode', verifying((body) => body.toString('latin1'))],
  ['ignores the time', 'no-freshness-window', 'stale future just-stale just-future', window(any, -any)],
  ['accepts any future time', 'accepts-future', 'future just-future', window(300, -any)],
  ['accepts any past time', 'accepts-old', 'stale just-stale', window(any, -300)],
  ['has a window of ten minutes', 'window-wide', 'just-stale just-future', window(600, -600)],
  ['has a window of a minute', 'window-narrow', 'slightly-old slightly-ahead', window(60, -60)],
  [
    'compares only the beginning of the signature',
    'partial-comparison',
    'partial-signature',
    equal((expected, given) => expected.slice(0, 16) === given.slice(0, 16)),
  ],
  [
    'compares as many characters as were given',
    'partial-comparison',
    'partial-signature',
    equal((expected, given) => expected.startsWith(given)),
  ],
  [
    'accepts the signature in any field',
    'accepts-other-scheme',
    'wrong-scheme',
    {
      fieldsOf: (header) => ({ ...anyFields(header), code: header }),
      isEqual: (expected, given) => given.split(/[,=]/).includes(expected),
    },
  ],
  [
    'takes the second field for the signature',
    'scheme-by-position',
    'second-scheme-first unknown-header-field',
    fields((header) => {
      const [t = '', code = ''] = header.split(',').map((field) => field.split('=')[1] ?? '')
      return { t, code }
    }),
  ],
  [
    'rejects unknown fields in the header',
    'rejects-header-fields',
    'second-scheme second-scheme-first unknown-header-field',
    fields((header) => (/^(t|v1)=[^,]*,(t|v1)=[^,]*$/.test(header) ? correct.fieldsOf(header) : 400)),
  ],
  [
    'requires t before v1',
    'field-order',
    'reordered-fields',
    fields((header) => (header.startsWith('t=') ? correct.fieldsOf(header) : 400)),
  ],
  [
    'rejects as a server error',
    'rejected-with-5xx',
    'malformed-signature',
    fields((header) => (correct.fieldsOf(header) === 400 ? 500 : correct.fieldsOf(header))),
  ],
  ['has another secret', 'wrong-secret', 'good duplicate two-at-once still-good', { key: 'whsec_of_another' }],
  ['uses the API secret', 'api-secret-used', 'good duplicate', { key: apiSecret }, { apiSecret }],
  ['kept the quotes of an environment file', 'secret-altered', 'good', { key: `"${signingSecret}"` }],
  [
    'has a clock that is ten minutes slow',
    'clock-wrong',
    'good',
    {
      ...window(900, 300),
      before: (_, response) => {
        response.setHeader('date', new Date(Date.now() - 600_000).toUTCString())
        return false
      },
    },
  ],
  ['has a clock two hours fast behind a proxy with its own', 'clock-wrong', 'good', window(-6_900, -7_500)],
  ['has a clock days slow, and compares the time first', 'clock-wrong', 'good', fields(() => 400)],
]

const snapshots: readonly Planted[] = [
  [
    'rejects unknown fields in the body',
    'rejects-unknown-fields',
    'unknown-fields',
    rejecting(400, (snapshot) => Object.keys(snapshot).length > 7),
  ],
  [
    'rejects unknown states',
    'rejects-unknown-state',
    'unknown-state',
    rejecting(422, ({ state }) => state?.startsWith('added') === true),
  ],
  [
    'fails on a refund',
    'rejects-a-state',
    'every-state',
    rejecting(500, ({ state }) => state?.startsWith('refund') === true),
  ],
  ['fails on null', 'fails-on-null', 'null-fields', rejecting(500, ({ recipient }) => !recipient?.title.length)],
  [
    'fails on a title of more than 255 characters',
    'fails-on-long-text',
    'long-text',
    rejecting(500, ({ recipient }) => Number(recipient?.title.length) > 255),
  ],
  [
    'limits bodies to 1 KiB',
    'body-limit-low',
    'long-text',
    {
      async read(request) {
        const body = await correct.read(request)
        return typeof body !== 'number' && body.length > 1_024 ? 413 : body
      },
    },
  ],
  [
    'rejects duplicates with 409',
    'rejects-duplicates',
    'duplicate',
    rejectingVersions(409, (version, stored) => version === stored),
  ],
  [
    'fails on a lower version',
    'rejects-lower-version',
    'lower-version',
    rejectingVersions(500, (version, stored) => version < stored),
  ],
  [
    'waits for the first version',
    'rejects-version-gap',
    'version-gap',
    rejectingVersions(409, (version, stored) => version > stored + 1),
  ],
  [
    'credits every delivery',
    'effect-repeated',
    'duplicate lower-version two-at-once',
    { store: () => [204, true] },
    'counts effects',
  ],
  [
    'identifies a payment by its hash alone',
    'effect-missing',
    'same-hash-other-chain',
    { store: (versions, snapshot) => correct.store(versions, { ...snapshot, chainId: '' }) },
    'counts effects',
  ],
  ['fails in its handler', 'handler-fails', 'good', { store: () => [500, false] }],
]

const transport: readonly Planted[] = [
  ['redirects', 'redirects', 'redirect', { before: status(308, { location: '/webhook/?token=of-a-session' }) }],
  ['has no such route', 'route-missing', 'reachable', { before: status(404) }],
  ['takes only GET', 'post-rejected', 'reachable', { before: status(405) }],
  ['asks for a log-in', 'login-required', 'good duplicate', { before: status(401, { 'www-authenticate': 'Basic' }) }],
  ['closes the connection', 'connection-reset', 'reachable', { before: ({ socket }) => socket.destroy().destroyed }],
  ['never answers', 'slow-answer', 'reachable', { before: () => true }, { timeoutMs: 50 }],
  [
    'answers too late',
    'slow-answer',
    'reachable',
    {
      before: async (_, response) => {
        await new Promise((resolve) => setTimeout(resolve, 75))
        response.writeHead(204).end()
        return true
      },
    },
    { timeoutMs: 50 },
  ],
  ['takes only the exact content type', 'content-type-exact', 'charset', accepting(/^application\/json$/, 415)],
  ['fails on other content types', 'fails-on-content-type', 'other-content-type', accepting(/^application\/json/, 500)],
  [
    'verifies only application/json',
    'skips-other-content-types',
    'other-content-type',
    { isChecked: (headers) => headers['content-type']?.startsWith('application/json') ?? false },
  ],
  [
    'breaks on a second request of a connection',
    'connection-not-reusable',
    'keep-alive keep-alive-after-rejection',
    {
      before({ socket }) {
        const isSecond = served.has(socket)
        served.add(socket)
        if (isSecond) socket.destroy()
        return isSecond
      },
    },
  ],
  [
    'has a parser in front of the adapter, which fails for any JSON',
    'body-parsed',
    'good',
    accepting(/^(?!.*json)/, 500),
  ],
  ['has no secret, and fails for everything', 'fails-before-verifying', 'good', { before: status(500) }],
]

describe('the doctor finds a receiver that', () => {
  test.each([...verification, ...snapshots, ...transport])(
    '%s: %s',
    async (_fault, cause, probes, steps, options = {}) => {
      const { url, effects } = await plant(steps)
      const report = await examine(url, options === 'counts effects' ? { effects } : options)
      const named = report.probes.filter((probe) => probe.cause?.code === cause).map(({ name }) => name)
      expect(named).toEqual(expect.arrayContaining(probes.split(' ')))
      expect(report.findings.map(({ code }) => code)).toEqual([cause])
      expect(report.failed + report.warned).toBeGreaterThan(0)
    },
  )

  test('fails on every request, and advises to read its log instead of a line about raw bytes', async () => {
    const { url } = await plant({ before: status(500) })
    const { findings } = await examine(url, {})
    expect(findings.map(({ fix }) => fix)).toEqual([
      { summary: expect.stringMatching(/^Read the log of the receiver/), lines: {} },
    ])
  })
})
