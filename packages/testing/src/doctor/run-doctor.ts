/** Probes a receiver of notifications, and names the causes of its faults. Source: docs/interface.md 6. @module */

import { causeOf, type DoctorCauseCode, doctorCauseCodes, fixOf } from './causes.js'
import { diagnose, infer } from './diagnose.js'
import { connectionProbes, lastProbes, reachProbes, urlProbe } from './probes/connection.js'
import {
  type Bench,
  type CheckedOptions,
  checkOptions,
  createBench,
  type DoctorOptions,
  isAccepted,
  type ProbeSpec,
} from './probes/probe.js'
import { contentTypeProbes, rejectedProbes, windowProbes } from './probes/rejected.js'
import { bodyProbes, headerProbes, versionProbes } from './probes/valid.js'
import type {
  DoctorFinding,
  DoctorProbe,
  DoctorProbeName,
  DoctorReport,
  DoctorVerdict,
  Judgement,
  SocketAnswer,
} from './report.js'
import { createFetchSender, createSocketSender } from './send.js'

export function probesOf(url: URL): readonly ProbeSpec[] {
  return [
    urlProbe(url),
    ...reachProbes,
    ...bodyProbes,
    ...headerProbes,
    ...versionProbes,
    ...rejectedProbes,
    ...windowProbes,
    ...contentTypeProbes,
    ...connectionProbes,
    ...lastProbes,
  ]
}

/** Slow answers are awaited this many times longer than the service does, to tell slow from broken. */
const patience = 2

interface Run {
  readonly spec: ProbeSpec
  readonly judgement: Judgement | null
}

/**
 * Sends about 70 deliveries to a receiver, and judges its answers. The payments are marked (their hashes begin with
 * `0xd0c70000`) and belong to no order; valid ones are stored by a correct receiver. Secrets and bodies are in no
 * result. Redirects are not followed.
 * @throws {TypeError} For an unusable URL, secret or address; RangeError for a number out of range. Both before
 * anything is sent.
 * @example const report = await runDoctor({ url, signingSecret, integrationAddress }); report.failed === 0
 */
export async function runDoctor(options: DoctorOptions): Promise<DoctorReport> {
  const checked = checkOptions(options)
  const { target, timeoutMs, signal, fetch, effects = null, onProbe, now } = checked
  const settings = { url: target, waitMs: timeoutMs * patience, signal, now }
  const sender = fetch === undefined ? createSocketSender(settings) : createFetchSender(fetch, settings)
  const bench = createBench(checked, sender)
  const runs: Run[] = []
  const seen: SocketAnswer[] = []
  let isOver = false
  let unsignedEffects = 0
  for (const spec of probesOf(target)) {
    signal?.throwIfAborted()
    const canRun = !isOver && !(spec.needsSockets && bench.sockets === null)
    const before = canRun && effects !== null ? await effects() : 0
    const first = canRun ? await spec.run(bench, seen) : null
    const delta = first !== null && effects !== null ? (await effects()) - before : null
    if (spec.expected === '4xx') unsignedEffects += delta ?? 0
    const judgement = first === null ? null : withEffects(spec, first, delta)
    seen.push(...(judgement?.answers ?? []))
    runs.push({ spec, judgement })
    if (judgement?.verdict === 'fail' && endsRun.has(spec.name)) isOver = true
    onProbe?.(probeOf({ spec, judgement }, judgement?.cause ?? null, isOver))
  }
  const diagnosed = await diagnoseGood(runs, bench, now)
  return reportOf(checked, runs, isOver, diagnosed, effects === null ? null : unsignedEffects > 0)
}

/** Probes whose failure makes all later ones meaningless. */
const endsRun: ReadonlySet<DoctorProbeName> = new Set(['reachable', 'redirect'])

/** Compares the number of effects with that of a correct receiver. */
function withEffects(spec: ProbeSpec, judgement: Judgement, delta: number | null): Judgement {
  if (delta === null || spec.effects === null || delta === spec.effects) return judgement
  const note = `${delta} effects instead of ${spec.effects}`
  // The status already says what is wrong.
  if (judgement.verdict === 'fail') return { ...judgement, note }
  if (spec.expected === '4xx') return { ...judgement, verdict: 'fail', cause: 'effect-unverified', note }
  // A warning explains why less was handled.
  if (judgement.verdict === 'warn' && delta < spec.effects) return { ...judgement, note }
  return { ...judgement, verdict: 'fail', cause: delta > spec.effects ? 'effect-repeated' : 'effect-missing', note }
}

async function diagnoseGood(runs: readonly Run[], bench: Bench, now: () => number): Promise<DoctorCauseCode | null> {
  const good = runs.find(({ spec }) => spec.name === 'good')?.judgement
  const answer = good?.answers[0]
  if (good?.verdict !== 'fail' || answer === undefined || answer.status === null || isAccepted(answer)) return null
  return diagnose(bench, answer, now)
}

function reportOf(
  { target, seed }: CheckedOptions,
  runs: readonly Run[],
  isOver: boolean,
  diagnosed: DoctorCauseCode | null,
  hasEffects: boolean | null,
): DoctorReport {
  const judgements = new Map(
    runs.flatMap(({ spec, judgement }) => (judgement ? [[spec.name, judgement] as const] : [])),
  )
  const inferred = infer(judgements, diagnosed, hasEffects)
  const probes = runs.map((run) => probeOf(run, inferred.get(run.spec.name) ?? run.judgement?.cause ?? null, isOver))
  const count = (verdict: DoctorVerdict) => probes.filter((probe) => probe.verdict === verdict).length
  return {
    url: target.href,
    seed,
    passed: count('pass'),
    failed: count('fail'),
    warned: count('warn'),
    notRun: count('not-run'),
    probes,
    findings: findingsOf(probes),
  }
}

function probeOf({ spec, judgement }: Run, code: DoctorCauseCode | null, isOver: boolean): DoctorProbe {
  const { name, sent, expected, clause } = spec
  const facts = { name, sent, expected, clause }
  if (judgement === null) {
    const evidence = isOver ? 'an earlier probe ended the run' : 'needs connections of its own'
    return { ...facts, verdict: 'not-run', answered: [], evidence, cause: null, fix: null }
  }
  const answered = judgement.answers.map(({ status, ms, noAnswer }) => ({ status, ms, noAnswer }))
  const named = code === null ? { cause: null, fix: null } : { cause: causeOf(code), fix: fixOf(code) }
  return { ...facts, verdict: judgement.verdict, answered, evidence: evidenceOf(judgement), ...named }
}

/** Statuses and the longest time, such as `204, 401 in 12 ms`. */
function evidenceOf({ answers, note }: Judgement): string {
  const statuses = answers.map(({ status, noAnswer }) => status ?? noAnswer).join(', ')
  const slowest = Math.max(0, ...answers.map(({ ms }) => ms))
  return [answers.length === 0 ? '' : `${statuses} in ${slowest} ms`, note ?? '']
    .filter((part) => part !== '')
    .join('; ')
}

function findingsOf(probes: readonly DoctorProbe[]): DoctorFinding[] {
  const found = doctorCauseCodes.flatMap((code): DoctorFinding[] => {
    const caused = probes.filter((probe) => probe.cause?.code === code)
    if (caused.length === 0) return []
    const verdict = caused.some((probe) => probe.verdict === 'fail') ? 'fail' : 'warn'
    return [{ ...causeOf(code), verdict, probes: caused.map(({ name }) => name), fix: fixOf(code) }]
  })
  return found.sort((a, b) => a.verdict.localeCompare(b.verdict))
}
