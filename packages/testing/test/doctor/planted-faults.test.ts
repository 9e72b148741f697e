import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import { type DoctorCauseCode, type DoctorOptions, type DoctorProbeName, runDoctor } from '../../src/exports/doctor.js'
import { apiSecret, correct, integrationAddress, plant, type Steps, signingSecret } from './planted-receiver.js'

/** No verdict depends on the speed of this machine. */
const unhurried = 120_000

function examine(url: string, options: Partial<DoctorOptions> = {}) {
  return runDoctor({ url, signingSecret, integrationAddress, timeoutMs: unhurried, ...options })
}

interface Planted {
  readonly fault: string
  readonly steps: Partial<Steps>
  /** The cause that the doctor must name. */
  readonly cause: DoctorCauseCode
  /** The probes that must name it. */
  readonly probes: readonly DoctorProbeName[]
  readonly options?: Partial<DoctorOptions>
  readonly countsEffects?: true
}

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
  {
    fault: 'verifies nothing',
    steps: { isChecked: () => false },
    cause: 'no-verification',
    probes: [
      'unsigned',
      'malformed-signature',
      'forged',
      'other-secret',
      'partial-signature',
      'tampered',
      'stale',
      'future',
    ],
  },
  {
    fault: 'checks only that a signature is present',
    steps: { fieldsOf: anyFields, isEqual: () => true },
    cause: 'presence-only',
    probes: ['forged', 'other-secret', 'partial-signature', 'tampered', 'changed-amount'],
  },
  {
    fault: 'answers 200 before it verifies',
    steps: { answersFirst: true },
    cause: 'answers-before-verifying',
    probes: ['unsigned', 'forged', 'stale'],
    countsEffects: true,
  },
  {
    fault: 'verifies JSON that was parsed and written again',
    steps: { verifiedBytes: (body) => JSON.stringify(JSON.parse(body.toString())) },
    cause: 'body-reserialised',
    probes: ['pretty-printed', 'unicode', 'tampered'],
  },
  {
    fault: 'verifies a parsed object',
    steps: { verifiedBytes: (body) => String(JSON.parse(body.toString())) },
    cause: 'body-parsed',
    probes: ['good', 'pretty-printed', 'duplicate', 'keep-alive'],
  },
  {
    fault: 'decodes the body as Latin-1',
    steps: { verifiedBytes: (body) => body.toString('latin1') },
    cause: 'body-decoded',
    probes: ['unicode'],
  },
  {
    fault: 'ignores the time',
    steps: { isFresh: () => true },
    cause: 'no-freshness-window',
    probes: ['stale', 'future', 'just-stale', 'just-future'],
  },
  {
    fault: 'accepts any future time',
    steps: { isFresh: (ageSeconds) => ageSeconds <= 300 },
    cause: 'accepts-future',
    probes: ['future', 'just-future'],
  },
  {
    fault: 'accepts any past time',
    steps: { isFresh: (ageSeconds) => ageSeconds >= -300 },
    cause: 'accepts-old',
    probes: ['stale', 'just-stale'],
  },
  {
    fault: 'has a window of ten minutes',
    steps: { isFresh: (ageSeconds) => Math.abs(ageSeconds) <= 600 },
    cause: 'window-wide',
    probes: ['just-stale', 'just-future'],
  },
  {
    fault: 'has a window of a minute',
    steps: { isFresh: (ageSeconds) => Math.abs(ageSeconds) <= 60 },
    cause: 'window-narrow',
    probes: ['slightly-old', 'slightly-ahead'],
  },
  {
    fault: 'compares only the beginning of the signature',
    steps: { isEqual: (expected, given) => expected.slice(0, 16) === given.slice(0, 16) },
    cause: 'partial-comparison',
    probes: ['partial-signature'],
  },
  {
    fault: 'compares as many characters as were given',
    steps: { isEqual: (expected, given) => expected.startsWith(given) },
    cause: 'partial-comparison',
    probes: ['partial-signature'],
  },
  {
    fault: 'accepts the signature in any field',
    steps: {
      fieldsOf: (header) => ({ ...anyFields(header), code: header }),
      isEqual: (expected, given) => given.split(/[,=]/).includes(expected),
    },
    cause: 'accepts-other-scheme',
    probes: ['wrong-scheme'],
  },
  {
    fault: 'takes the second field for the signature',
    steps: {
      fieldsOf(header) {
        const [t, code] = header.split(',').map((field) => field.split('=')[1] ?? '')
        return { t: t ?? '', code: code ?? '' }
      },
    },
    cause: 'scheme-by-position',
    probes: ['second-scheme-first', 'unknown-header-field'],
  },
  {
    fault: 'rejects unknown fields in the header',
    steps: {
      fieldsOf: (header) => (/^(t|v1)=[^,]*,(t|v1)=[^,]*$/.test(header) ? correct.fieldsOf(header) : 400),
    },
    cause: 'rejects-header-fields',
    probes: ['second-scheme', 'second-scheme-first', 'unknown-header-field'],
  },
  {
    fault: 'requires t before v1',
    steps: { fieldsOf: (header) => (header.startsWith('t=') ? correct.fieldsOf(header) : 400) },
    cause: 'field-order',
    probes: ['reordered-fields'],
  },
  {
    fault: 'rejects unknown fields in the body',
    steps: { inspect: (snapshot) => (Object.keys(snapshot).length > 7 ? 400 : null) },
    cause: 'rejects-unknown-fields',
    probes: ['unknown-fields'],
  },
  {
    fault: 'rejects unknown states',
    steps: { inspect: ({ state }) => (state?.startsWith('added') ? 422 : null) },
    cause: 'rejects-unknown-state',
    probes: ['unknown-state'],
  },
  {
    fault: 'fails on a refund',
    steps: { inspect: ({ state }) => (state?.startsWith('refund') ? 500 : null) },
    cause: 'rejects-a-state',
    probes: ['every-state'],
  },
  {
    fault: 'fails on null',
    steps: { inspect: ({ recipient }) => (recipient?.title.length ? null : 500) },
    cause: 'fails-on-null',
    probes: ['null-fields'],
  },
  {
    fault: 'fails on a title of more than 255 characters',
    steps: { inspect: ({ recipient }) => (Number(recipient?.title.length) > 255 ? 500 : null) },
    cause: 'fails-on-long-text',
    probes: ['long-text'],
  },
  {
    fault: 'limits bodies to 1 KiB',
    steps: { read: (request) => limited(request, 1_024) },
    cause: 'body-limit-low',
    probes: ['long-text'],
  },
  {
    fault: 'rejects duplicates with 409',
    steps: {
      store(versions, snapshot) {
        const isKnown = versions.get(`${snapshot.chainId}:${snapshot.txHash}`) === snapshot.version
        return isKnown ? [409, false] : correct.store(versions, snapshot)
      },
    },
    cause: 'rejects-duplicates',
    probes: ['duplicate'],
  },
  {
    fault: 'fails on a lower version',
    steps: {
      store(versions, snapshot) {
        const stored = versions.get(`${snapshot.chainId}:${snapshot.txHash}`) ?? 0
        return snapshot.version < stored ? [500, false] : correct.store(versions, snapshot)
      },
    },
    cause: 'rejects-lower-version',
    probes: ['lower-version'],
  },
  {
    fault: 'waits for the first version',
    steps: {
      store(versions, snapshot) {
        const stored = versions.get(`${snapshot.chainId}:${snapshot.txHash}`) ?? 0
        return snapshot.version > stored + 1 ? [409, false] : correct.store(versions, snapshot)
      },
    },
    cause: 'rejects-version-gap',
    probes: ['version-gap'],
  },
  {
    fault: 'credits every delivery',
    steps: { store: () => [204, true] },
    cause: 'effect-repeated',
    probes: ['duplicate', 'lower-version', 'two-at-once'],
    countsEffects: true,
  },
  {
    fault: 'identifies a payment by its hash alone',
    steps: { store: (versions, snapshot) => correct.store(versions, { ...snapshot, chainId: '' }) },
    cause: 'effect-missing',
    probes: ['same-hash-other-chain'],
    countsEffects: true,
  },
  {
    fault: 'redirects',
    steps: { before: status(308, { location: '/webhook/?token=of-a-session' }) },
    cause: 'redirects',
    probes: ['redirect'],
  },
  { fault: 'has no such route', steps: { before: status(404) }, cause: 'route-missing', probes: ['reachable'] },
  { fault: 'takes only GET', steps: { before: status(405) }, cause: 'post-rejected', probes: ['reachable'] },
  {
    fault: 'asks for a log-in',
    steps: { before: status(401, { 'www-authenticate': 'Basic' }) },
    cause: 'login-required',
    probes: ['good', 'duplicate'],
  },
  {
    fault: 'closes the connection',
    steps: {
      before: (request) => {
        request.socket.destroy()
        return true
      },
    },
    cause: 'connection-reset',
    probes: ['reachable'],
  },
  {
    fault: 'never answers',
    steps: { before: () => true },
    cause: 'slow-answer',
    probes: ['reachable'],
    options: { timeoutMs: 50 },
  },
  {
    fault: 'answers too late',
    steps: {
      before: async (_, response) => {
        await new Promise((resolve) => setTimeout(resolve, 75))
        response.writeHead(204).end()
        return true
      },
    },
    cause: 'slow-answer',
    probes: ['reachable'],
    options: { timeoutMs: 50 },
  },
  {
    fault: 'accepts only the exact content type',
    steps: { before: contentTypes(/^application\/json$/, 415) },
    cause: 'content-type-exact',
    probes: ['charset'],
  },
  {
    fault: 'fails on other content types',
    steps: { before: contentTypes(/^application\/json/, 500) },
    cause: 'fails-on-content-type',
    probes: ['other-content-type'],
  },
  {
    fault: 'verifies only application/json',
    steps: { isChecked: (headers) => headers['content-type']?.startsWith('application/json') ?? false },
    cause: 'skips-other-content-types',
    probes: ['other-content-type'],
  },
  {
    fault: 'breaks on a second request of a connection',
    steps: {
      before({ socket }) {
        const isSecond = served.has(socket)
        served.add(socket)
        if (isSecond) socket.destroy()
        return isSecond
      },
    },
    cause: 'connection-not-reusable',
    probes: ['keep-alive', 'keep-alive-after-rejection'],
  },
  {
    fault: 'has another secret',
    steps: { key: 'whsec_of_another_integration' },
    cause: 'wrong-secret',
    probes: ['good', 'duplicate', 'two-at-once', 'still-good'],
  },
  {
    fault: 'uses the API secret',
    steps: { key: apiSecret },
    cause: 'api-secret-used',
    probes: ['good', 'duplicate'],
    options: { apiSecret },
  },
  {
    fault: 'kept the quotes of an environment file',
    steps: { key: `"${signingSecret}"` },
    cause: 'secret-altered',
    probes: ['good'],
  },
  {
    fault: 'has a clock that is ten minutes slow',
    steps: {
      isFresh: (ageSeconds) => Math.abs(ageSeconds - 600) <= 300,
      before: (_, response) => {
        response.setHeader('date', new Date(Date.now() - 600_000).toUTCString())
        return false
      },
    },
    cause: 'clock-wrong',
    probes: ['good'],
  },
  {
    fault: 'fails in its handler',
    steps: { store: () => [500, false] },
    cause: 'handler-fails',
    probes: ['good'],
  },
  {
    fault: 'has a parser in front of the adapter, which fails for any JSON',
    steps: {
      before: (request, response) =>
        /json/.test(request.headers['content-type'] ?? '') && status(500)(request, response),
    },
    cause: 'body-parsed',
    probes: ['good'],
  },
  {
    fault: 'has no secret, and fails for everything',
    steps: { before: (request, response) => status(500)(request, response) },
    cause: 'fails-before-verifying',
    probes: ['good'],
  },
  {
    fault: 'rejects as a server error',
    steps: {
      fieldsOf: (header) => (correct.fieldsOf(header) === 400 ? 500 : correct.fieldsOf(header)),
    },
    cause: 'rejected-with-5xx',
    probes: ['malformed-signature'],
  },
]

function contentTypes(accepted: RegExp, code: number): Steps['before'] {
  return (request, response) => !accepted.test(request.headers['content-type'] ?? '') && status(code)(request, response)
}

describe('the doctor finds a receiver that', () => {
  test.each(planted)('$fault: $cause', async ({ steps, cause, probes, options, countsEffects }) => {
    const { url, effects } = await plant(steps)
    const report = await examine(url, { ...options, ...(countsEffects ? { effects } : {}) })
    const named = report.probes.filter((probe) => probe.cause?.code === cause).map(({ name }) => name)
    expect(named).toEqual(expect.arrayContaining(probes as DoctorProbeName[]))
    expect(report.findings.map(({ code }) => code)).toEqual([cause])
    expect(report.failed + report.warned).toBeGreaterThan(0)
  })
})
