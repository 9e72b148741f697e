import type { IncomingMessage } from 'node:http'
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
const limited = async (request: IncomingMessage, bytes: number) => {
  const body = await correct.read(request)
  return typeof body !== 'number' && body.length > bytes ? 413 : body
}

const planted: readonly Planted[] = [
  [
    'verifies nothing',
    'no-verification',
    'unsigned malformed-signature forged other-secret partial-signature tampered stale future',
    { isChecked: () => false },
  ],
  [
    'checks only that a signature is present',
    'presence-only',
    'forged other-secret partial-signature tampered changed-amount',
    { fieldsOf: anyFields, isEqual: () => true },
  ],
  [
    'answers 200 before it verifies',
    'answers-before-verifying',
    'unsigned forged stale',
    { answersFirst: true },
    'counts effects',
  ],
  [
    'verifies JSON that was parsed and written again',
    'body-reserialized',
    'pretty-printed unicode tampered',
    { verifiedBytes: (body) => JSON.stringify(JSON.parse(body.toString())) },
  ],
  [
    'verifies a parsed object',
    'body-parsed',
    'good pretty-printed duplicate keep-alive',
    { verifiedBytes: (body) => String(JSON.parse(body.toString())) },
  ],
  ['decodes the body as Latin-1', 'body-decoded', 'unicode', { verifiedBytes: (body) => body.toString('latin1') }],
  ['ignores the time', 'no-freshness-window', 'stale future just-stale just-future', { isFresh: () => true }],
  ['accepts any future time', 'accepts-future', 'future just-future', { isFresh: (ageSeconds) => ageSeconds <= 300 }],
  ['accepts any past time', 'accepts-old', 'stale just-stale', { isFresh: (ageSeconds) => ageSeconds >= -300 }],
  [
    'has a window of ten minutes',
    'window-wide',
    'just-stale just-future',
    { isFresh: (ageSeconds) => Math.abs(ageSeconds) <= 600 },
  ],
  [
    'has a window of a minute',
    'window-narrow',
    'slightly-old slightly-ahead',
    { isFresh: (ageSeconds) => Math.abs(ageSeconds) <= 60 },
  ],
  [
    'compares only the beginning of the signature',
    'partial-comparison',
    'partial-signature',
    { isEqual: (expected, given) => expected.slice(0, 16) === given.slice(0, 16) },
  ],
  [
    'compares as many characters as were given',
    'partial-comparison',
    'partial-signature',
    { isEqual: (expected, given) => expected.startsWith(given) },
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
    {
      fieldsOf(header) {
        const [t, code] = header.split(',').map((field) => field.split('=')[1] ?? '')
        return { t: t ?? '', code: code ?? '' }
      },
    },
  ],
  [
    'rejects unknown fields in the header',
    'rejects-header-fields',
    'second-scheme second-scheme-first unknown-header-field',
    { fieldsOf: (header) => (/^(t|v1)=[^,]*,(t|v1)=[^,]*$/.test(header) ? correct.fieldsOf(header) : 400) },
  ],
  [
    'requires t before v1',
    'field-order',
    'reordered-fields',
    { fieldsOf: (header) => (header.startsWith('t=') ? correct.fieldsOf(header) : 400) },
  ],
  [
    'rejects unknown fields in the body',
    'rejects-unknown-fields',
    'unknown-fields',
    { inspect: (snapshot) => (Object.keys(snapshot).length > 7 ? 400 : null) },
  ],
  [
    'rejects unknown states',
    'rejects-unknown-state',
    'unknown-state',
    { inspect: ({ state }) => (state?.startsWith('added') ? 422 : null) },
  ],
  [
    'fails on a refund',
    'rejects-a-state',
    'every-state',
    { inspect: ({ state }) => (state?.startsWith('refund') ? 500 : null) },
  ],
  [
    'fails on null',
    'fails-on-null',
    'null-fields',
    { inspect: ({ recipient }) => (recipient?.title.length ? null : 500) },
  ],
  [
    'fails on a title of more than 255 characters',
    'fails-on-long-text',
    'long-text',
    { inspect: ({ recipient }) => (Number(recipient?.title.length) > 255 ? 500 : null) },
  ],
  ['limits bodies to 1 KiB', 'body-limit-low', 'long-text', { read: (request) => limited(request, 1_024) }],
  [
    'rejects duplicates with 409',
    'rejects-duplicates',
    'duplicate',
    {
      store(versions, snapshot) {
        const isKnown = versions.get(`${snapshot.chainId}:${snapshot.txHash}`) === snapshot.version
        return isKnown ? [409, false] : correct.store(versions, snapshot)
      },
    },
  ],
  [
    'fails on a lower version',
    'rejects-lower-version',
    'lower-version',
    {
      store(versions, snapshot) {
        const stored = versions.get(`${snapshot.chainId}:${snapshot.txHash}`) ?? 0
        return snapshot.version < stored ? [500, false] : correct.store(versions, snapshot)
      },
    },
  ],
  [
    'waits for the first version',
    'rejects-version-gap',
    'version-gap',
    {
      store(versions, snapshot) {
        const stored = versions.get(`${snapshot.chainId}:${snapshot.txHash}`) ?? 0
        return snapshot.version > stored + 1 ? [409, false] : correct.store(versions, snapshot)
      },
    },
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
  ['redirects', 'redirects', 'redirect', { before: status(308, { location: '/webhook/?token=of-a-session' }) }],
  ['has no such route', 'route-missing', 'reachable', { before: status(404) }],
  ['takes only GET', 'post-rejected', 'reachable', { before: status(405) }],
  ['asks for a log-in', 'login-required', 'good duplicate', { before: status(401, { 'www-authenticate': 'Basic' }) }],
  [
    'closes the connection',
    'connection-reset',
    'reachable',
    {
      before: (request) => {
        request.socket.destroy()
        return true
      },
    },
  ],
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
  [
    'accepts only the exact content type',
    'content-type-exact',
    'charset',
    { before: contentTypes(/^application\/json$/, 415) },
  ],
  [
    'fails on other content types',
    'fails-on-content-type',
    'other-content-type',
    { before: contentTypes(/^application\/json/, 500) },
  ],
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
    'has another secret',
    'wrong-secret',
    'good duplicate two-at-once still-good',
    { key: 'whsec_of_another_integration' },
  ],
  ['uses the API secret', 'api-secret-used', 'good duplicate', { key: apiSecret }, { apiSecret }],
  ['kept the quotes of an environment file', 'secret-altered', 'good', { key: `"${signingSecret}"` }],
  [
    'has a clock that is ten minutes slow',
    'clock-wrong',
    'good',
    {
      isFresh: (ageSeconds) => Math.abs(ageSeconds - 600) <= 300,
      before: (_, response) => {
        response.setHeader('date', new Date(Date.now() - 600_000).toUTCString())
        return false
      },
    },
  ],
  [
    'has a clock that is two hours fast, behind a proxy that answers with its own',
    'clock-wrong',
    'good',
    { isFresh: (ageSeconds) => Math.abs(ageSeconds + 7_200) <= 300 },
  ],
  [
    'has a clock that is days slow, and compares the time before the signature',
    'clock-wrong',
    'good',
    { fieldsOf: () => 400 },
  ],
  ['fails in its handler', 'handler-fails', 'good', { store: () => [500, false] }],
  [
    'has a parser in front of the adapter, which fails for any JSON',
    'body-parsed',
    'good',
    {
      before: (request, response) =>
        /json/.test(request.headers['content-type'] ?? '') && status(500)(request, response),
    },
  ],
  [
    'has no secret, and fails for everything',
    'fails-before-verifying',
    'good',
    { before: (request, response) => status(500)(request, response) },
  ],
  [
    'rejects as a server error',
    'rejected-with-5xx',
    'malformed-signature',
    { fieldsOf: (header) => (correct.fieldsOf(header) === 400 ? 500 : correct.fieldsOf(header)) },
  ],
]

function contentTypes(accepted: RegExp, code: number): Steps['before'] {
  return (request, response) => !accepted.test(request.headers['content-type'] ?? '') && status(code)(request, response)
}

describe('the doctor finds a receiver that', () => {
  test.each(planted)('%s: %s', async (_fault, cause, probes, steps, options = {}) => {
    const { url, effects } = await plant(steps)
    const report = await examine(url, options === 'counts effects' ? { effects } : options)
    const named = report.probes.filter((probe) => probe.cause?.code === cause).map(({ name }) => name)
    expect(named).toEqual(expect.arrayContaining(probes.split(' ')))
    expect(report.findings.map(({ code }) => code)).toEqual([cause])
    expect(report.failed + report.warned).toBeGreaterThan(0)
  })

  test('fails on every request, and advises to read its log instead of a line about raw bytes', async () => {
    const { url } = await plant({ before: status(500) })
    const { findings } = await examine(url, {})
    expect(findings.map(({ fix }) => fix)).toEqual([
      { summary: expect.stringMatching(/^Read the log of the receiver/), lines: {} },
    ])
  })
})
