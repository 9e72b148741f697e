import type { Socket } from 'node:net'
import type { SnapshotBody } from '@payment-integration/contract'
import { expect, test } from 'vitest'
import type { DoctorCauseCode } from '../../src/doctor/causes.js'
import { type DoctorOptions, runDoctor } from '../../src/exports/doctor.js'
import { apiSecret, correct, integrationAddress, plant, type Steps, signingSecret } from './planted-receiver.js'

/** A fault, the cause that the doctor must name, the probes that must name it, and the steps that have the fault. */
type Planted = [fault: string, cause: DoctorCauseCode, probes: string, steps: Partial<Steps>, options?: Options]
type Options = Partial<DoctorOptions> | 'counts effects'

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
const rejecting = (code: number, has: (snapshot: SnapshotBody) => boolean): Partial<Steps> => ({
  inspect: (snapshot) => (has(snapshot) ? code : null),
})
const hasMoreFields = (snapshot: SnapshotBody) => Object.keys(snapshot).length > 7
const inState = (start: string) => (snapshot: SnapshotBody) => snapshot.state?.startsWith(start) === true
const getTitleLength = ({ recipient }: SnapshotBody) => recipient?.title.length ?? 0
const hasNoTitle = (snapshot: SnapshotBody) => getTitleLength(snapshot) === 0
const hasLongTitle = (snapshot: SnapshotBody) => getTitleLength(snapshot) > 255
/** Answers a status to versions, by how far they are ahead of the stored one, or of 0. */
const rejectingAhead = (code: number, has: (ahead: number) => boolean): Partial<Steps> => ({
  store(versions, snapshot) {
    const stored = versions.get(`${snapshot.chainId}:${snapshot.txHash}`) ?? 0
    return has(snapshot.version - stored) ? [code, false] : correct.store(versions, snapshot)
  },
})
const crediting: Partial<Steps> = { store: () => [204, true] }
const byHashAlone: Partial<Steps> = { store: (versions, one) => correct.store(versions, { ...one, chainId: '' }) }
/** Answers a status to other content types. */
const accepting = (types: RegExp, code: number): Partial<Steps> => ({
  before: (request, response) => !types.test(request.headers['content-type'] ?? '') && status(code)(request, response),
})
const fields = (fieldsOf: Steps['fieldsOf']) => ({ fieldsOf })
/** Rejects headers that do not match. */
const whereHeader = (pattern: RegExp) => (header: string) => (pattern.test(header) ? correct.fieldsOf(header) : 400)
const failing = (header: string) => (correct.fieldsOf(header) === 400 ? 500 : correct.fieldsOf(header))
const signedSecond = fields((header) => {
  const [t = '', code = ''] = header.split(',').map((field) => field.split('=')[1] ?? '')
  return { t, code }
})
const signedAnywhere: Partial<Steps> = {
  fieldsOf: (header) => ({ ...anyFields(header), code: header }),
  isEqual: (expected, given) => given.split(/[,=]/).includes(expected),
}
const comparingSixteen: Partial<Steps> = { isEqual: (one, other) => one.slice(0, 16) === other.slice(0, 16) }
const comparingGiven: Partial<Steps> = { isEqual: (expected, given) => expected.startsWith(given) }
const writtenAgain = verifying((body) => JSON.stringify(JSON.parse(body.toString())))
const parsed = verifying((body) => String(JSON.parse(body.toString())))
const readingOneKiB: Steps['read'] = async (request) => {
  const body = await correct.read(request)
  return typeof body !== 'number' && body.length > 1_024 ? 413 : body
}
const slowClock: Partial<Steps> = {
  ...window(900, 300),
  before: (_, response) => response.setHeader('date', new Date(Date.now() - 600_000).toUTCString()).headersSent,
}
const answeringLate: Steps['before'] = async (request, response) => {
  await new Promise((resolve) => setTimeout(resolve, 75))
  return status(204)(request, response)
}
const closingUsed: Steps['before'] = ({ socket }) => {
  const isSecond = served.has(socket)
  served.add(socket)
  if (isSecond) socket.destroy()
  return isSecond
}
const knownFields = fields(whereHeader(/^(t|v1)=[^,]*,(t|v1)=[^,]*$/))
const checkingJson: Partial<Steps> = {
  isChecked: (headers) => /^application\/json/.test(headers['content-type'] ?? ''),
}
const reused = 'keep-alive keep-alive-after-rejection'
const otherFields = 'second-scheme second-scheme-first unknown-header-field'
const anyProof = 'unsigned malformed-signature forged other-secret partial-signature tampered stale future'
const anyCode = 'forged other-secret partial-signature tampered changed-amount'
const any = Number.POSITIVE_INFINITY

const verification: readonly Planted[] = [
  ['verifies nothing', 'no-verification', anyProof, { isChecked: () => false }],
  ['looks only for a signature', 'presence-only', anyCode, { fieldsOf: anyFields, isEqual: () => true }],
  ['answers 200 first', 'answers-before-verifying', 'unsigned forged stale', { answersFirst: true }, 'counts effects'],
  ['verifies JSON written again', 'body-reserialized', 'pretty-printed unicode tampered', writtenAgain],
  ['verifies a parsed object', 'body-parsed', 'good pretty-printed duplicate keep-alive', parsed],
  ['decodes the body as Latin-1', 'body-decoded', 'unicode', verifying((body) => body.toString('latin1'))],
  ['ignores the time', 'no-freshness-window', 'stale future just-stale just-future', window(any, -any)],
  ['accepts any future time', 'accepts-future', 'future just-future', window(300, -any)],
  ['accepts any past time', 'accepts-old', 'stale just-stale', window(any, -300)],
  ['has a window of ten minutes', 'window-wide', 'just-stale just-future', window(600, -600)],
  ['has a window of a minute', 'window-narrow', 'slightly-old slightly-ahead', window(60, -60)],
  ['compares only the beginning of the signature', 'partial-comparison', 'partial-signature', comparingSixteen],
  ['compares as many characters as were given', 'partial-comparison', 'partial-signature', comparingGiven],
  ['accepts the signature in any field', 'accepts-other-scheme', 'wrong-scheme', signedAnywhere],
  ['takes the second field', 'scheme-by-position', 'second-scheme-first unknown-header-field', signedSecond],
  ['rejects unknown fields in the header', 'rejects-header-fields', otherFields, knownFields],
  ['requires t before v1', 'field-order', 'reordered-fields', fields(whereHeader(/^t=/))],
  ['rejects as a server error', 'rejected-with-5xx', 'malformed-signature', fields(failing)],
  ['has another secret', 'wrong-secret', 'good duplicate two-at-once still-good', { key: 'whsec_of_another' }],
  ['uses the API secret', 'api-secret-used', 'good duplicate', { key: apiSecret }, { apiSecret }],
  ['kept the quotes of an environment file', 'secret-altered', 'good', { key: `"${signingSecret}"` }],
  ['has a clock that is ten minutes slow', 'clock-wrong', 'good', slowClock],
  ['has a clock two hours fast behind a proxy with its own', 'clock-wrong', 'good', window(-6_900, -7_500)],
  ['has a clock days slow, and compares the time first', 'clock-wrong', 'good', fields(() => 400)],
]

const snapshots: readonly Planted[] = [
  ['rejects unknown fields in the body', 'rejects-unknown-fields', 'unknown-fields', rejecting(400, hasMoreFields)],
  ['rejects unknown states', 'rejects-unknown-state', 'unknown-state', rejecting(422, inState('added'))],
  ['fails on a refund', 'rejects-a-state', 'every-state', rejecting(500, inState('refund'))],
  ['fails on null', 'fails-on-null', 'null-fields', rejecting(500, hasNoTitle)],
  ['fails on titles over 255', 'fails-on-long-text', 'long-text', rejecting(500, hasLongTitle)],
  ['limits bodies to 1 KiB', 'body-limit-low', 'long-text', { read: readingOneKiB }],
  ['rejects duplicates with 409', 'rejects-duplicates', 'duplicate', rejectingAhead(409, (ahead) => ahead === 0)],
  ['fails on a lower version', 'rejects-lower-version', 'lower-version', rejectingAhead(500, (ahead) => ahead < 0)],
  ['waits for the first version', 'rejects-version-gap', 'version-gap', rejectingAhead(409, (ahead) => ahead > 1)],
  ['credits every delivery', 'effect-repeated', 'duplicate lower-version two-at-once', crediting, 'counts effects'],
  ['identifies a payment by its hash', 'effect-missing', 'same-hash-other-chain', byHashAlone, 'counts effects'],
  ['fails in its handler', 'handler-fails', 'good', { store: () => [500, false] }],
]

const transport: readonly Planted[] = [
  ['redirects', 'redirects', 'redirect', { before: status(308, { location: '/webhook/?token=of-a-session' }) }],
  ['has no such route', 'route-missing', 'reachable', { before: status(404) }],
  ['takes only GET', 'post-rejected', 'reachable', { before: status(405) }],
  ['asks for a log-in', 'login-required', 'good duplicate', { before: status(401, { 'www-authenticate': 'Basic' }) }],
  ['closes the connection', 'connection-reset', 'reachable', { before: ({ socket }) => socket.destroy().destroyed }],
  ['never answers', 'slow-answer', 'reachable', { before: () => true }, { timeoutMs: 50 }],
  ['answers too late', 'slow-answer', 'reachable', { before: answeringLate }, { timeoutMs: 50 }],
  ['takes only the exact content type', 'content-type-exact', 'charset', accepting(/^application\/json$/, 415)],
  ['fails on other content types', 'fails-on-content-type', 'other-content-type', accepting(/^application\/json/, 500)],
  ['verifies only application/json', 'skips-other-content-types', 'other-content-type', checkingJson],
  ['breaks on a second request of a connection', 'connection-not-reusable', reused, { before: closingUsed }],
  ['has a parser before the adapter, which fails for any JSON', 'body-parsed', 'good', accepting(/^(?!.*json)/, 500)],
  ['has no secret, and fails for everything', 'fails-before-verifying', 'good', { before: status(500) }],
]

test.each([...verification, ...snapshots, ...transport])(
  'the doctor finds a receiver that %s: %s',
  async (_fault, cause, probes, steps, options = {}) => {
    const { url, effects } = await plant(steps)
    const own = options === 'counts effects' ? { effects } : options
    // No verdict depends on the speed of this machine.
    const report = await runDoctor({ url, signingSecret, integrationAddress, timeoutMs: 120_000, ...own })
    const named = report.probes.filter((probe) => probe.cause?.code === cause).map(({ name }) => name)
    expect(named).toEqual(expect.arrayContaining(probes.split(' ')))
    expect(report.findings.map(({ code }) => code)).toEqual([cause])
    expect(report.failed + report.warned).toBeGreaterThan(0)
  },
)
