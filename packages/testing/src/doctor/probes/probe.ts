/** Defines a probe, makes its deliveries, and judges the answers. Source: docs/interface.md 6. @module */
import type { SnapshotBody } from '@payment-integration/contract'
import { createBuilders } from '../../builders.js'
import type { SignedDelivery } from '../../deliveries.js'
import { buildDelivery, computeSignature, createDeliveries } from '../../deliveries.js'
import type { DoctorCauseCode } from '../causes.js'
import type { DoctorNoAnswer, Sender, SocketAnswer } from '../send.js'

export interface ReceiverOptions {
  readonly target: URL
  readonly signingSecret: string
  readonly integrationAddress: string
  readonly seed: number
  /** Unix time in milliseconds. */
  readonly clock: { now(): number }
  readonly timeoutMs: number
}

/** Builds the value of the signature header from the time in unix seconds and the 64 hex digits of the signature. */
type FormatHeader = (parts: { readonly t: string; readonly v1: string }) => string | Promise<string>

/** The receiver under test, and the means to probe it. The functions need no `this`. */
export type ProbeContext = ReturnType<typeof createProbeContext>

/** The doctor's transaction hashes begin with this prefix, so that its payments can be found and deleted. */
export const doctorHashPrefix = '0xd0c70000'

export function createProbeContext(options: ReceiverOptions, sender: Sender) {
  const { target, signingSecret, integrationAddress, seed, clock, timeoutMs } = options
  const build = createBuilders({ seed, integrationAddress, clock })
  const invoice = { amount: '1.00', currency: 'EUR', settlementAmount: '1.08', settlementCurrency: 'USD' }
  /** Creates a payment at version 1. */
  const newPayment = (fields?: Partial<SnapshotBody>) =>
    build.snapshot({
      txHash: `${doctorHashPrefix}${build.txHash().slice(doctorHashPrefix.length)}`,
      state: 'pending',
      recipient: { title: 'Doctor', subtitle: 'A test of the receiver' },
      invoice,
      ...fields,
    })
  /** Signs a body without changing it, and builds its delivery. @param formatHeader - By default the valid header. */
  async function signBody(text: string, formatHeader: FormatHeader = ({ t, v1 }) => `t=${t},v1=${v1}`) {
    const body = new TextEncoder().encode(text)
    const t = String(Math.floor(clock.now() / 1_000))
    const v1 = await computeSignature(signingSecret, t, body)
    return buildDelivery(integrationAddress, body, await formatHeader({ t, v1 }))
  }
  return {
    ...sender,
    ...createDeliveries({ secret: signingSecret, clock }),
    url: target,
    timeoutMs,
    newPayment,
    signBody,
    /** Signs a new payment, and builds its delivery with this header. */
    withHeader: (formatHeader: FormatHeader) => signBody(JSON.stringify(newPayment()), formatHeader),
  }
}

/** A verdict before causes are compared across probes. */
export interface Judgment {
  readonly verdict: 'pass' | 'fail' | 'warn'
  readonly cause: DoctorCauseCode | null
  readonly answers: readonly SocketAnswer[]
  /** Text that follows the statuses. */
  readonly note?: string | undefined
}

export function pass(answers: Judgment['answers'], note?: string): Judgment {
  return { verdict: 'pass', cause: null, answers, note }
}

const judgeAs =
  (verdict: 'warn' | 'fail') =>
  (cause: DoctorCauseCode, answers: Judgment['answers'], note?: string): Judgment => ({
    verdict,
    cause,
    answers,
    note,
  })

export const warn = judgeAs('warn')
export const fail = judgeAs('fail')

export interface ProbeSpec {
  readonly sent: string
  readonly expected: string
  readonly clause: string
  /** The number of effects at a correct receiver; null when the probe cannot know. */
  readonly effects: number | null
  /** Runs the probe; null: it needs connections of its own. @param earlierAnswers - All answers of earlier probes. */
  run(context: ProbeContext, earlierAnswers: readonly SocketAnswer[]): Promise<Judgment | null>
}

export type ProbeTable = Readonly<Record<string, ProbeSpec>>

/** The clause about the answer to a valid delivery. */
export const successClause = '6 Delivery: any 2xx is success, any other answer a failure'

/** A probe that expects the same answer to each of its deliveries, which it sends one after the other. */
interface DeliveryProbe {
  readonly sent: string
  readonly clause: string
  /** Reported when an answer is not the expected one. */
  readonly cause: DoctorCauseCode
  /** By default 1 for deliveries that must be accepted, 0 for the others. */
  readonly effects?: number | null
  deliveries(context: ProbeContext): Promise<readonly SignedDelivery[]> | readonly Promise<SignedDelivery>[]
  /** Replaces the verdict or the cause. */
  refine?(judgment: Judgment): Judgment
}

/** A probe whose every delivery must be answered 2xx. */
export const accepted = (probe: DeliveryProbe): ProbeSpec => toSpec(probe, '2xx', 1, judgeAccepted)

/** A probe whose every delivery must be rejected. */
export const rejected = (probe: DeliveryProbe): ProbeSpec => toSpec(probe, '4xx', 0, judgeRejected)

function toSpec(probe: DeliveryProbe, expected: string, usualEffects: number, judge: Judge): ProbeSpec {
  const { deliveries, cause, effects = usualEffects, refine = (judgment) => judgment, ...texts } = probe
  return {
    ...texts,
    expected,
    effects,
    async run(context) {
      const answers = await sendInTurn(context, await Promise.all(await deliveries(context)))
      return refine(judge(answers, cause, context.timeoutMs))
    },
  }
}

export async function sendInTurn({ send }: Sender, deliveries: readonly SignedDelivery[]): Promise<SocketAnswer[]> {
  const answers: SocketAnswer[] = []
  for (const delivery of deliveries) answers.push(await send(delivery))
  return answers
}

type Judge = (answers: readonly SocketAnswer[], cause: DoctorCauseCode, timeoutMs: number) => Judgment

/** Requires every answer to be 2xx. `cause` is reported when an answer is not 2xx. */
export const judgeAccepted: Judge = (answers, cause, timeoutMs) => {
  for (const answer of answers) {
    const transportCause = findTransportCause(answer, timeoutMs)
    if (isAccepted(answer) && transportCause === null) continue
    return fail(transportCause ?? (answer.status === 413 ? 'body-limit-low' : cause), answers)
  }
  return pass(answers)
}

/** Requires that no answer is 2xx, and prefers 4xx. `cause` is reported when an answer is 2xx. */
export const judgeRejected: Judge = (answers, cause, timeoutMs) => {
  if (answers.some(isAccepted)) return fail(cause, answers)
  const transportCause = answers.map((answer) => findTransportCause(answer, timeoutMs)).find((each) => each !== null)
  if (transportCause === 'connection-reset') return warn('rejected-without-answer', answers)
  if (transportCause !== undefined) return (transportCause === 'rate-limited' ? warn : fail)(transportCause, answers)
  return answers.some(isServerError) ? warn('rejected-with-5xx', answers) : pass(answers)
}

/** Whether the status is 2xx, the only success of a delivery. */
export const isAccepted = ({ status }: SocketAnswer): boolean => status !== null && status >= 200 && status < 300

export const isServerError = ({ status }: SocketAnswer): boolean => status !== null && status >= 500

const noAnswerCauses: Readonly<Record<DoctorNoAnswer, DoctorCauseCode>> = {
  dns: 'host-unknown',
  refused: 'connection-refused',
  tls: 'certificate-invalid',
  reset: 'connection-reset',
  timeout: 'slow-answer',
  'not-http': 'not-http',
  failed: 'connection-reset',
}

/** Finds a cause outside the request: the network, a redirect, a rate limit or a slow answer; null: there is none. */
export function findTransportCause(answer: SocketAnswer, timeoutMs: number): DoctorCauseCode | null {
  const { status, noAnswer, ms } = answer
  if (noAnswer !== null) return noAnswerCauses[noAnswer]
  if (status !== null && status >= 300 && status < 400) return 'redirects'
  if (status === 429) return 'rate-limited'
  return ms > timeoutMs ? 'slow-answer' : null
}
