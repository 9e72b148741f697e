/** Probes a receiver of notifications, and names the causes of its faults. Source: docs/interface.md 6. @module */
import { createHmac } from '../deliveries.js'
import { type DoctorCauseCode, doctorCauseCodes, getCause, getFix } from './causes.js'
import { connectionProbes } from './probes/connection.js'
import { type Bench, createBench, isAccepted, type Judgement, type ProbeSpec } from './probes/probe.js'
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

type Bytes = Uint8Array<ArrayBuffer>

interface Mistake {
  readonly cause: DoctorCauseCode
  readonly key?: Bytes
  readonly signed?: (t: string, body: string) => string
}

const utf8 = (text: string): Bytes => new TextEncoder().encode(text)
/** A smaller difference between the clocks, in milliseconds, does not explain a rejection. */
const clockNoiseMs = 60_000
/** Usual clock errors in seconds: drift of minutes, and time zones of hours. */
const usualClockErrors = [10, 20, 30, 40, 50, ...Array.from({ length: 14 }, (_, index) => 60 * (index + 1))].flatMap(
  (minutes) => [minutes * 60, -minutes * 60],
)

/**
 * If the valid delivery was rejected, sends deliveries with one known mistake of signing each, until one is accepted.
 * Null: none was.
 */
async function diagnose(bench: Bench, runs: readonly Run[], now: () => number): Promise<DoctorCauseCode | null> {
  const judgement = runs.find(({ name }) => name === 'good')?.judgement
  const good = judgement?.answers[0]
  if (judgement?.verdict !== 'fail' || good === undefined || good.status === null || isAccepted(good)) return null
  for (const mistake of buildMistakes(bench)) if (isAccepted(await sendMistaken(bench, mistake))) return mistake.cause
  const drift = good.date === null ? 0 : good.date - now()
  const driftAges = Math.abs(drift) < clockNoiseMs ? [] : [-Math.round(drift / 1_000)]
  // The `Date` header may be a proxy's. A receiver answers 400 to a time outside the window, 401 to a wrong signature.
  for (const ageSeconds of good.status === 400 ? [...driftAges, ...usualClockErrors] : driftAges)
    if (isAccepted(await bench.send(await bench.deliveries.stale(bench.payment(), ageSeconds)))) return 'clock-wrong'
  return null
}

function buildMistakes({ signingSecret: secret, apiSecret }: Bench): Mistake[] {
  const altered = [`"${secret}"`, `'${secret}'`, `${secret}\n`, `${secret} `, ` ${secret}`]
  const trimmed = secret.trim().replace(/^(["'])(.*)\1$/s, '$2')
  if (trimmed !== secret && trimmed !== '') altered.push(trimmed)
  return [
    ...(apiSecret === undefined ? [] : [{ cause: 'api-secret-used', key: utf8(apiSecret) } as const]),
    ...altered.map((text) => ({ cause: 'secret-altered', key: utf8(text) }) as const),
    ...decodedKeys(secret).map((key) => ({ cause: 'secret-decoded', key }) as const),
    { cause: 'body-parsed', signed: (t) => `${t}.[object Object]` },
    { cause: 'body-parsed', signed: (t) => `${t}.undefined` },
    { cause: 'body-parsed', signed: (t) => `${t}.` },
    { cause: 'body-reserialized', signed: (t, body) => `${t}.${JSON.stringify(JSON.parse(body), null, 2)}` },
    { cause: 'signed-string-wrong', signed: (_, body) => body },
    { cause: 'signed-string-wrong', signed: (t, body) => `${t}${body}` },
    { cause: 'signed-string-wrong', signed: (t, body) => `${body}.${t}` },
  ]
}

/** Decodes a secret from hex or Base64, with or without a prefix such as `whsec_`. */
function decodedKeys(secret: string): Bytes[] {
  return [...new Set([secret, secret.replace(/^[a-z]{1,16}_/, '')])].flatMap((text) => [
    ...(/^([0-9a-f]{2})+$/i.test(text) ? [new Uint8Array(Buffer.from(text, 'hex'))] : []),
    ...(/^[\w+/-]{8,}={0,2}$/.test(text) ? [new Uint8Array(Buffer.from(text, 'base64'))] : []),
  ])
}

async function sendMistaken(bench: Bench, { key, signed }: Mistake): Promise<SocketAnswer> {
  const text = JSON.stringify(bench.payment())
  const { body, t } = await bench.sign(text)
  const v1 = await createHmac(key ?? utf8(bench.signingSecret))(utf8(signed?.(t, text) ?? `${t}.${text}`))
  return bench.send(bench.deliver(body, `t=${t},v1=${v1}`))
}

type Judgements = ReadonlyMap<DoctorProbeName, Judgement>

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
function infer(judgements: Judgements, diagnosed: DoctorCauseCode | null, hasEffects: boolean | null) {
  const causes = new Map<DoctorProbeName, DoctorCauseCode>()
  const judged = (name: DoctorProbeName) => judgements.get(name)
  const failed = (name: DoctorProbeName) => judged(name)?.verdict === 'fail'
  const causedBy = (name: DoctorProbeName) => judged(name)?.cause ?? null
  const set = (names: Iterable<DoctorProbeName>, cause: DoctorCauseCode, only = failed) => {
    for (const name of names)
      if (only(name) && !transportCauses.has(causedBy(name) as DoctorCauseCode)) causes.set(name, cause)
  }
  const isBad = (name: DoctorProbeName) => failed(name) || judged(name)?.verdict === 'warn'

  if (failed('good') && !transportCauses.has(causedBy('good') as DoctorCauseCode)) {
    const cause = diagnosed ?? whyRejected(judgements)
    set(validProbes, cause, isBad)
    // Invalid deliveries are rejected by the same failure.
    if (cause === 'body-parsed' || cause === 'fails-before-verifying') set(invalidProbes, cause, isBad)
    if (diagnosed === 'clock-wrong') set(['stale', 'future', 'just-stale', 'just-future'], diagnosed, isBad)
    return causes
  }

  inferSchemes(failed, causes)
  inferVersions(judgements, causes)
  if (failed('partial-signature')) set(['malformed-signature', 'wrong-scheme'], 'partial-comparison')
  if (failed('pretty-printed') || (failed('tampered') && !failed('changed-amount')))
    set(['pretty-printed', 'unicode', 'tampered'], 'body-reserialized')
  if (failed('stale') && failed('future'))
    set(['stale', 'future', 'just-stale', 'just-future'], 'no-freshness-window', isBad)
  else if (failed('stale')) set(['just-stale'], 'accepts-old', isBad)
  else if (failed('future')) set(['just-future'], 'accepts-future', isBad)
  if (failed('forged')) {
    const all = failed('unsigned') ? 'no-verification' : 'presence-only'
    const isAcceptedWrongly = (name: DoctorProbeName) =>
      judged(name)?.verdict !== 'pass' && judged(name)?.answers.some(isAccepted) === true
    set(invalidProbes, hasEffects === false ? 'answers-before-verifying' : all, isAcceptedWrongly)
  }
  return causes
}

function inferSchemes(failed: (name: DoctorProbeName) => boolean, causes: Map<DoctorProbeName, DoctorCauseCode>): void {
  if (!failed('unknown-header-field')) return
  // A receiver that splits fields by position accepts an added field at the end, and any signature in its position.
  const countsFields = !failed('second-scheme')
  const cause = countsFields ? 'scheme-by-position' : 'rejects-header-fields'
  const names = ['second-scheme', 'second-scheme-first', 'unknown-header-field'] as const
  for (const name of countsFields ? ([...names, 'wrong-scheme', 'reordered-fields'] as const) : names)
    if (failed(name)) causes.set(name, cause)
}

function inferVersions(judgements: Judgements, causes: Map<DoctorProbeName, DoctorCauseCode>): void {
  const failed = (name: DoctorProbeName) => judgements.get(name)?.verdict === 'fail'
  const replace = (name: DoctorProbeName, cause: DoctorCauseCode) => {
    if (judgements.get(name)?.cause === 'fails-at-once') causes.set(name, cause)
  }
  if (failed('duplicate')) replace('two-at-once', 'rejects-duplicates')
  if (failed('lower-version')) replace('two-versions-at-once', 'rejects-lower-version')
  if (!failed('version-gap')) return
  replace('two-versions-at-once', 'rejects-version-gap')
  const [first] = judgements.get('lower-version')?.answers ?? []
  if (failed('lower-version') && first !== undefined && !isAccepted(first))
    causes.set('lower-version', 'rejects-version-gap')
}

/** Infers why valid deliveries are rejected although no known mistake was found. */
function whyRejected(judgements: Judgements): DoctorCauseCode {
  const passed = (name: DoctorProbeName) => judgements.get(name)?.verdict === 'pass'
  const getStatus = (name: DoctorProbeName) => Number(judgements.get(name)?.answers[0]?.status)
  const good = judgements.get('good')
  if (good?.answers.some(({ wantsLogin }) => wantsLogin)) return 'login-required'
  if (passed('reordered-fields')) return 'field-order'
  if (passed('pretty-printed')) return 'body-reserialized'
  if (passed('charset')) return 'content-type-exact'
  if (getStatus('good') === 413) return 'body-limit-low'
  // A correct receiver answers 401 without a signature, 400 outside the window. This one answers 400 to any signature.
  if (getStatus('good') === 400 && getStatus('forged') === 400 && getStatus('unsigned') === 401) return 'clock-wrong'
  if (getStatus('good') < 500) return 'wrong-secret'
  // A handler runs, and can fail, only after a valid signature.
  if (getStatus('forged') < 500) return 'handler-fails'
  // A parser before verification fails with any signature, but ignores other content types.
  const others = judgements.get('other-content-type')?.answers ?? []
  const isJsonAlone = others.some(({ status }) => status !== null && status < 500)
  return getStatus('unsigned') < 500 || isJsonAlone ? 'body-parsed' : 'fails-before-verifying'
}

/** The doctor waits this many times as long as the service, to distinguish slow answers from missing ones. */
const patienceFactor = 2

interface Run {
  readonly name: DoctorProbeName
  readonly spec: ProbeSpec
  readonly judgement: Judgement | null
}

/**
 * Sends about 70 deliveries to a receiver, and judges its answers. The payments are marked (their hashes begin with
 * `0xd0c70000`) and belong to no order; valid ones are stored by a correct receiver. The result has no secrets
 * and no bodies. Redirects are not followed.
 * @throws {TypeError} For an unusable URL, secret or address; RangeError for a number out of range. Both are
 * thrown before anything is sent.
 * @example const report = await runDoctor({ url, signingSecret, integrationAddress }); report.failed === 0
 */
export async function runDoctor(options: DoctorOptions): Promise<DoctorReport> {
  const checked = checkOptions(options)
  const { target, timeoutMs, signal, fetch, effects = null, onProbe, now } = checked
  const settings = { url: target, waitMs: timeoutMs * patienceFactor, signal, now }
  const sender = fetch === undefined ? createSocketSender(settings) : createFetchSender(fetch, settings)
  const bench = createBench(checked, sender)
  const runs: Run[] = []
  const earlierAnswers: SocketAnswer[] = []
  let hasEnded = false
  let unsignedEffects = 0
  for (const name of doctorProbeNames) {
    const spec: ProbeSpec = probeSpecs[name]
    signal?.throwIfAborted()
    const canRun = !hasEnded && !(spec.needsSockets && bench.sockets === null)
    const before = canRun && effects !== null ? await effects() : 0
    const first = canRun ? await spec.run(bench, earlierAnswers) : null
    const delta = first !== null && effects !== null ? (await effects()) - before : null
    if (spec.expected === '4xx') unsignedEffects += delta ?? 0
    const judgement = first === null ? null : withEffects(spec, first, delta)
    earlierAnswers.push(...(judgement?.answers ?? []))
    const run = { name, spec, judgement }
    runs.push(run)
    if (judgement?.verdict === 'fail' && endsRun.has(name)) hasEnded = true
    onProbe?.(toProbe(run, judgement?.cause ?? null, hasEnded))
  }
  const diagnosed = await diagnose(bench, runs, now)
  return buildReport(checked, runs, hasEnded, diagnosed, effects === null ? null : unsignedEffects > 0)
}

/** Probes whose failure makes all later probes meaningless. */
const endsRun: ReadonlySet<DoctorProbeName> = new Set(['reachable', 'redirect'])

/** Compares the number of effects with the number that a correct receiver has. */
function withEffects(spec: ProbeSpec, judgement: Judgement, delta: number | null): Judgement {
  if (delta === null || spec.effects === null || delta === spec.effects) return judgement
  const note = `${delta} effects instead of ${spec.effects}`
  // The status already names the fault.
  if (judgement.verdict === 'fail') return { ...judgement, note }
  if (spec.expected === '4xx') return { ...judgement, verdict: 'fail', cause: 'effect-unverified', note }
  // A warning already explains the missing effects.
  if (judgement.verdict === 'warn' && delta < spec.effects) return { ...judgement, note }
  return { ...judgement, verdict: 'fail', cause: delta > spec.effects ? 'effect-repeated' : 'effect-missing', note }
}

function buildReport(
  { target, seed }: CheckedOptions,
  runs: readonly Run[],
  hasEnded: boolean,
  diagnosed: DoctorCauseCode | null,
  hasEffects: boolean | null,
): DoctorReport {
  const judgements = new Map(runs.flatMap(({ name, judgement }) => (judgement ? [[name, judgement] as const] : [])))
  const inferred = infer(judgements, diagnosed, hasEffects)
  const probes = runs.map((run) => toProbe(run, inferred.get(run.name) ?? run.judgement?.cause ?? null, hasEnded))
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

function toProbe({ name, spec, judgement }: Run, code: DoctorCauseCode | null, hasEnded: boolean): DoctorProbe {
  const { sent, expected, clause } = spec
  const facts = { name, sent, expected, clause }
  if (judgement === null) {
    const evidence = hasEnded ? 'an earlier probe ended the run' : 'needs connections of its own'
    return { ...facts, verdict: 'not-run', answered: [], evidence, cause: null, fix: null }
  }
  const answered = judgement.answers.map(({ status, ms, noAnswer }) => ({ status, ms, noAnswer }))
  const named = code === null ? { cause: null, fix: null } : { cause: getCause(code), fix: getFix(code) }
  return { ...facts, verdict: judgement.verdict, answered, evidence: toEvidence(judgement), ...named }
}

/** Formats statuses with the longest time, such as `204, 401 in 12 ms`. */
function toEvidence({ answers, note }: Judgement): string {
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
