/** Probes a receiver of notifications, and names the causes of its faults. Source: docs/interface.md 6. @module */
import { createHmac } from '../deliveries.js'
import { type DoctorCauseCode, doctorCauseCodes, getCause, getFix } from './causes.js'
import { connectionProbes } from './probes/connection.js'
import type { Judgment, ProbeContext, ProbeSpec } from './probes/probe.js'
import { createProbeContext, fail, isAccepted } from './probes/probe.js'
import { contentTypeProbes, rejectedProbes } from './probes/rejected.js'
import { bodyProbes, headerProbes, versionProbes } from './probes/valid.js'
import type {
  CheckedOptions,
  DoctorFinding,
  DoctorOptions,
  DoctorProbe,
  DoctorProbeName,
  DoctorReport,
} from './report.js'
import { checkOptions, doctorProbeNames, probes as probeSpecs } from './report.js'
import { createFetchSender, createSocketSender, type SocketAnswer } from './send.js'

/** The judgments of the probes that ran. */
class Judgments extends Map<DoctorProbeName, Judgment> {
  /** Whether a probe failed whose failure makes all later probes meaningless. */
  get hasEnded(): boolean {
    return this.failed('reachable') || this.failed('redirect')
  }
  allAnswers(): SocketAnswer[] {
    return [...this.values()].flatMap(({ answers }) => answers)
  }
  passed(name: DoctorProbeName): boolean {
    return this.get(name)?.verdict === 'pass'
  }
  failed(name: DoctorProbeName): boolean {
    return this.get(name)?.verdict === 'fail'
  }
  getAnswers(name: DoctorProbeName): readonly SocketAnswer[] {
    return this.get(name)?.answers ?? []
  }
  /** The status of the first answer. 0: no answer arrived; NaN: nothing was sent. */
  getStatus(name: DoctorProbeName): number {
    return Number(this.getAnswers(name)[0]?.status)
  }
}

const utf8 = (text: string) => new TextEncoder().encode(text)
/** A smaller difference between the clocks, in milliseconds, does not explain a rejection. */
const clockNoiseMs = 60_000
/** Usual clock errors: drift of minutes, and time zones of hours. */
const clockErrorSeconds = [10, 20, 30, 40, 50, ...Array.from({ length: 14 }, (_, index) => 60 * (index + 1))].flatMap(
  (minutes) => [minutes * 60, -minutes * 60],
)

/** If the valid delivery was rejected, sends one with each known mistake until one is accepted. Null: none was. */
async function diagnose(context: ProbeContext, judgments: Judgments, options: CheckedOptions) {
  const [rejection] = judgments.getAnswers('good')
  if (!judgments.failed('good') || rejection?.status == null || isAccepted(rejection)) return null
  for (const { cause, key = utf8(options.signingSecret), buildSigned } of buildMistakes(options)) {
    const body = JSON.stringify(context.newPayment())
    const delivery = await context.signBody(body, async ({ t }) => {
      const signed = buildSigned?.(t, body) ?? `${t}.${body}`
      return `t=${t},v1=${await createHmac(key)(utf8(signed))}`
    })
    if (isAccepted(await context.send(delivery))) return cause
  }
  const driftMs = rejection.date === null ? 0 : rejection.date - options.clock.now()
  const driftAges = Math.abs(driftMs) < clockNoiseMs ? [] : [-Math.round(driftMs / 1_000)]
  // The `Date` header may be a proxy's. A receiver answers 400 to a time outside the window, 401 to a wrong signature.
  for (const ageSeconds of rejection.status === 400 ? [...driftAges, ...clockErrorSeconds] : driftAges)
    if (isAccepted(await context.send(await context.stale(context.newPayment(), ageSeconds)))) return 'clock-wrong'
  return null
}

/** A known mistake of signing: another key, or another signed text. */
interface Mistake {
  readonly cause: DoctorCauseCode
  readonly key?: Uint8Array<ArrayBuffer>
  readonly buildSigned?: (t: string, body: string) => string
}

function buildMistakes({ signingSecret: secret, apiSecret }: CheckedOptions): Mistake[] {
  const altered = [`"${secret}"`, `'${secret}'`, `${secret}\n`, `${secret} `, ` ${secret}`]
  const trimmed = secret.trim().replace(/^(["'])(.*)\1$/s, '$2')
  if (trimmed !== secret && trimmed !== '') altered.push(trimmed)
  return [
    ...(apiSecret === undefined ? [] : [{ cause: 'api-secret-used', key: utf8(apiSecret) } as const]),
    ...altered.map((text) => ({ cause: 'secret-altered', key: utf8(text) }) as const),
    ...decodeKeys(secret).map((key) => ({ cause: 'secret-decoded', key }) as const),
    { cause: 'body-parsed', buildSigned: (t) => `${t}.[object Object]` },
    { cause: 'body-parsed', buildSigned: (t) => `${t}.undefined` },
    { cause: 'body-parsed', buildSigned: (t) => `${t}.` },
    { cause: 'body-reserialized', buildSigned: (t, body) => `${t}.${JSON.stringify(JSON.parse(body), null, 2)}` },
    { cause: 'signed-string-wrong', buildSigned: (_, body) => body },
    { cause: 'signed-string-wrong', buildSigned: (t, body) => `${t}${body}` },
    { cause: 'signed-string-wrong', buildSigned: (t, body) => `${body}.${t}` },
  ]
}

/** Decodes a secret from hex or Base64, with or without a prefix such as `whsec_`. */
function decodeKeys(secret: string): Uint8Array<ArrayBuffer>[] {
  return [...new Set([secret, secret.replace(/^[a-z]{1,16}_/, '')])].flatMap((text) => [
    ...(/^([0-9a-f]{2})+$/i.test(text) ? [new Uint8Array(Buffer.from(text, 'hex'))] : []),
    ...(/^[\w+/-]{8,}={0,2}$/.test(text) ? [new Uint8Array(Buffer.from(text, 'base64'))] : []),
  ])
}

/** Probes that all fail when valid deliveries are rejected. */
const validProbes = new Set([
  ...Object.keys({ ...bodyProbes, ...headerProbes, ...versionProbes, ...contentTypeProbes, ...connectionProbes }),
  'slightly-old',
  'slightly-ahead',
  'still-good',
]) as ReadonlySet<DoctorProbeName>
/** Probes that a receiver without verification accepts. */
const invalidProbes: readonly DoctorProbeName[] = [
  ...(Object.keys(rejectedProbes) as (keyof typeof rejectedProbes)[]),
  'just-stale',
  'just-future',
  'other-content-type',
  'keep-alive-after-rejection',
  'large-body',
]
/** Probes of the freshness window that must be rejected. */
const timeProbes = ['stale', 'future', 'just-stale', 'just-future'] as const
/** Causes of the network path and of effects, which inference never replaces. */
const transportCauses: ReadonlySet<DoctorCauseCode> = new Set([
  'connection-reset',
  'slow-answer',
  'rate-limited',
  'redirects',
  'rejected-without-answer',
  'effect-missing',
  'effect-repeated',
  'effect-unverified',
])

/**
 * Infers causes that explain several probes.
 * @param diagnosed - The mistake that {@link diagnose} found, or null.
 * @param hasEffects - Whether invalid deliveries that were answered 2xx had effects; null when effects are not counted.
 */
function inferCauses(judgments: Judgments, diagnosed: DoctorCauseCode | null, hasEffects: boolean | null) {
  const causes: Causes = new Map()
  const failed = (name: DoctorProbeName) => judgments.failed(name)
  const hasTransportCause = (name: DoctorProbeName) =>
    transportCauses.has(judgments.get(name)?.cause as DoctorCauseCode)
  const setCause = (names: Iterable<DoctorProbeName>, cause: DoctorCauseCode, isAffected = failed) => {
    for (const name of names) if (isAffected(name) && !hasTransportCause(name)) causes.set(name, cause)
  }
  const failedOrWarned = (name: DoctorProbeName) => judgments.has(name) && !judgments.passed(name)

  if (failed('good') && !hasTransportCause('good')) {
    const cause = diagnosed ?? findRejectionCause(judgments)
    setCause(validProbes, cause, failedOrWarned)
    // Invalid deliveries are rejected by the same failure.
    if (cause === 'body-parsed' || cause === 'fails-before-verifying') setCause(invalidProbes, cause, failedOrWarned)
    if (diagnosed === 'clock-wrong') setCause(timeProbes, diagnosed, failedOrWarned)
    return causes
  }

  inferSchemes(judgments, causes)
  inferVersions(judgments, causes)
  if (failed('partial-signature')) setCause(['malformed-signature', 'wrong-scheme'], 'partial-comparison')
  if (failed('pretty-printed') || (failed('tampered') && !failed('changed-amount')))
    setCause(['pretty-printed', 'unicode', 'tampered'], 'body-reserialized')
  if (failed('stale') && failed('future')) setCause(timeProbes, 'no-freshness-window', failedOrWarned)
  else if (failed('stale')) setCause(['just-stale'], 'accepts-old', failedOrWarned)
  else if (failed('future')) setCause(['just-future'], 'accepts-future', failedOrWarned)
  if (failed('forged')) {
    const unverified = failed('unsigned') ? 'no-verification' : 'presence-only'
    const isWronglyAccepted = (name: DoctorProbeName) =>
      failedOrWarned(name) && judgments.getAnswers(name).some(isAccepted)
    setCause(invalidProbes, hasEffects === false ? 'answers-before-verifying' : unverified, isWronglyAccepted)
  }
  return causes
}

type Causes = Map<DoctorProbeName, DoctorCauseCode>

function inferSchemes(judgments: Judgments, causes: Causes): void {
  if (!judgments.failed('unknown-header-field')) return
  // A receiver that splits fields by position accepts an added field at the end, and any signature in its position.
  const countsFields = !judgments.failed('second-scheme')
  const cause = countsFields ? 'scheme-by-position' : 'rejects-header-fields'
  const names = ['second-scheme', 'second-scheme-first', 'unknown-header-field'] as const
  for (const name of countsFields ? ([...names, 'wrong-scheme', 'reordered-fields'] as const) : names)
    if (judgments.failed(name)) causes.set(name, cause)
}

function inferVersions(judgments: Judgments, causes: Causes): void {
  const replaceFailsAtOnce = (name: DoctorProbeName, cause: DoctorCauseCode) => {
    if (judgments.get(name)?.cause === 'fails-at-once') causes.set(name, cause)
  }
  const [answerToVersion2] = judgments.getAnswers('lower-version')
  if (judgments.failed('duplicate')) replaceFailsAtOnce('two-at-once', 'rejects-duplicates')
  if (judgments.failed('lower-version')) replaceFailsAtOnce('two-versions-at-once', 'rejects-lower-version')
  if (!judgments.failed('version-gap')) return
  replaceFailsAtOnce('two-versions-at-once', 'rejects-version-gap')
  if (judgments.failed('lower-version') && answerToVersion2 !== undefined && !isAccepted(answerToVersion2))
    causes.set('lower-version', 'rejects-version-gap')
}

/** Infers why valid deliveries are rejected although no known mistake was found. */
function findRejectionCause(judgments: Judgments): DoctorCauseCode {
  const status = judgments.getStatus('good')
  const forgedStatus = judgments.getStatus('forged')
  const unsignedStatus = judgments.getStatus('unsigned')
  if (judgments.getAnswers('good').some(({ wantsLogin }) => wantsLogin)) return 'login-required'
  if (judgments.passed('reordered-fields')) return 'field-order'
  if (judgments.passed('pretty-printed')) return 'body-reserialized'
  if (judgments.passed('charset')) return 'content-type-exact'
  if (status === 413) return 'body-limit-low'
  // A correct receiver answers 401 without a signature, 400 outside the window. This one answers 400 to any signature.
  if (status === 400 && forgedStatus === 400 && unsignedStatus === 401) return 'clock-wrong'
  if (status < 500) return 'wrong-secret'
  // A handler runs, and can fail, only after a valid signature.
  if (forgedStatus < 500) return 'handler-fails'
  // A parser before verification fails with any signature, but ignores other content types.
  const others = judgments.getAnswers('other-content-type')
  const isJsonAlone = others.some((answer) => answer.status !== null && answer.status < 500)
  return unsignedStatus < 500 || isJsonAlone ? 'body-parsed' : 'fails-before-verifying'
}

/** The doctor waits this many times as long as the service, to distinguish slow answers from missing ones. */
const patienceFactor = 2

/**
 * Sends about 70 deliveries to a receiver, and judges its answers. The payments are marked (their hashes begin with
 * `0xd0c70000`) and belong to no order; valid ones are stored by a correct receiver. The result has no secrets and no
 * bodies. Redirects are not followed.
 * @throws {TypeError | RangeError} For an unusable URL, secret or address, or a number out of range, before anything is
 * sent.
 * @example
 * import { runDoctor } from '@payment-integration/testing/doctor'
 * const [url, integrationAddress] = ['https://shop.example/webhook', `0x${'a1'.repeat(20)}`]
 * const { failed } = await runDoctor({ url, signingSecret: 'whsec_test', integrationAddress })
 * process.exitCode = failed > 0 ? 1 : 0
 */
export async function runDoctor(options: DoctorOptions): Promise<DoctorReport> {
  const checked = checkOptions(options)
  const { target, timeoutMs, signal, fetch, effects: countEffects, onProbe, clock, seed } = checked
  const settings = { url: target, waitMs: timeoutMs * patienceFactor, signal, clock }
  const sender = fetch === undefined ? createSocketSender(settings) : createFetchSender(fetch, settings)
  const context = createProbeContext(checked, sender)
  const judgments = new Judgments()
  let unverifiedEffects = 0
  async function runProbe(spec: ProbeSpec): Promise<Judgment | null> {
    const effectsBefore = (await countEffects?.()) ?? 0
    const judgment = await spec.run(context, judgments.allAnswers())
    if (judgment === null || countEffects === undefined) return judgment
    const effects = (await countEffects()) - effectsBefore
    if (spec.expected === '4xx') unverifiedEffects += effects
    return judgeEffects(spec, judgment, effects)
  }
  for (const name of doctorProbeNames) {
    signal?.throwIfAborted()
    const judgment = judgments.hasEnded ? null : await runProbe(probeSpecs[name])
    if (judgment !== null) judgments.set(name, judgment)
    onProbe?.(toProbe(name, judgments, judgment?.cause ?? null))
  }
  const diagnosed = await diagnose(context, judgments, checked)
  const causes = inferCauses(judgments, diagnosed, countEffects === undefined ? null : unverifiedEffects > 0)
  const probes = doctorProbeNames.map((name) =>
    toProbe(name, judgments, causes.get(name) ?? judgments.get(name)?.cause ?? null),
  )
  const count = (verdict: DoctorProbe['verdict']) => probes.filter((probe) => probe.verdict === verdict).length
  return {
    url: target.href,
    seed,
    passed: count('pass'),
    failed: count('fail'),
    warned: count('warn'),
    notRun: count('not-run'),
    probes,
    findings: buildFindings(probes),
  }
}

/** Compares the number of effects with the number that a correct receiver has. */
function judgeEffects(spec: ProbeSpec, judgment: Judgment, effects: number): Judgment {
  if (spec.effects === null || effects === spec.effects) return judgment
  const note = `${effects} effects instead of ${spec.effects}`
  // The status already names the fault.
  if (judgment.verdict === 'fail') return { ...judgment, note }
  if (spec.expected === '4xx') return fail('effect-unverified', judgment.answers, note)
  // A warning already explains the missing effects.
  if (judgment.verdict === 'warn' && effects < spec.effects) return { ...judgment, note }
  return fail(effects > spec.effects ? 'effect-repeated' : 'effect-missing', judgment.answers, note)
}

function toProbe(name: DoctorProbeName, judgments: Judgments, code: DoctorCauseCode | null): DoctorProbe {
  const { sent, expected, clause } = probeSpecs[name]
  const facts = { name, sent, expected, clause }
  const judgment = judgments.get(name)
  if (judgment === undefined) {
    const evidence = judgments.hasEnded ? 'an earlier probe ended the run' : 'needs connections of its own'
    return { ...facts, verdict: 'not-run', answered: [], evidence, cause: null, fix: null }
  }
  const answered = judgment.answers.map(({ status, ms, noAnswer }) => ({ status, ms, noAnswer }))
  const named = code === null ? { cause: null, fix: null } : { cause: getCause(code), fix: getFix(code) }
  return { ...facts, verdict: judgment.verdict, answered, evidence: toEvidence(judgment), ...named }
}

/** Formats statuses with the longest time, such as `204, 401 in 12 ms`. */
function toEvidence({ answers, note }: Judgment): string {
  const statuses = answers.map(({ status, noAnswer }) => status ?? noAnswer).join(', ')
  return [answers.length === 0 ? '' : `${statuses} in ${Math.max(0, ...answers.map(({ ms }) => ms))} ms`, note ?? '']
    .filter((part) => part !== '')
    .join('; ')
}

function buildFindings(probes: readonly DoctorProbe[]): DoctorFinding[] {
  const findings = doctorCauseCodes.flatMap((code): DoctorFinding[] => {
    const caused = probes.filter((probe) => probe.cause?.code === code)
    if (caused.length === 0) return []
    const verdict = caused.some((probe) => probe.verdict === 'fail') ? 'fail' : 'warn'
    return [{ ...getCause(code), verdict, probes: caused.map(({ name }) => name), fix: getFix(code) }]
  })
  return findings.sort((a, b) => a.verdict.localeCompare(b.verdict))
}
