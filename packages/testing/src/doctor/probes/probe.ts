/** Defines a probe, makes its deliveries, and judges the answers. Source: docs/interface.md 6. @module */
import type { SnapshotBody } from '@payment-integration/contract'
import { createBuilders } from '../../builders.js'
import type { Deliveries, SignedDelivery } from '../../deliveries.js'
import { buildDelivery, computeSignature, createDeliveries } from '../../deliveries.js'
import type { DoctorCauseCode } from '../causes.js'
import type { DoctorNoAnswer, Sender, SocketAnswer } from '../send.js'

/** The receiver, and the secrets, clock and seed for its deliveries. */
export interface BenchOptions {
  readonly target: URL
  readonly signingSecret: string
  readonly apiSecret?: string | undefined
  readonly integrationAddress: string
  readonly seed: number
  /** Unix time in milliseconds. */
  readonly now: () => number
  readonly timeoutMs: number
}

/** A body with the time and signature for its header. */
export interface SignedParts {
  readonly body: Uint8Array<ArrayBuffer>
  /** Unix seconds. */
  readonly t: string
  /** 64 hex digits. */
  readonly v1: string
}

export interface Bench extends Sender {
  readonly url: URL
  readonly deliveries: Deliveries
  readonly signingSecret: string
  readonly apiSecret: string | undefined
  readonly timeoutMs: number
  /** Creates a payment at version 1. */
  payment(fields?: Partial<SnapshotBody>): SnapshotBody
  /** Signs a body without changing it. */
  sign(body: string): Promise<SignedParts>
  /** Builds a request. @param signature - The value of the signature header. */
  deliver(body: Uint8Array<ArrayBuffer>, signature: string): SignedDelivery
  /** Signs a body, and builds its request. */
  deliverText(body: string): Promise<SignedDelivery>
}

/** The doctor's transaction hashes begin with this prefix, so that its payments can be found and deleted. */
export const doctorHashPrefix = '0xd0c70000'

export function createBench(options: BenchOptions, sender: Sender): Bench {
  const { target, signingSecret, apiSecret, integrationAddress, seed, now, timeoutMs } = options
  const clock = { now }
  const build = createBuilders({ seed, integrationAddress, clock })
  const invoice = { amount: '1.00', currency: 'EUR', settlementAmount: '1.08', settlementCurrency: 'USD' }

  const sign: Bench['sign'] = async (text) => {
    const body = new TextEncoder().encode(text)
    const t = String(Math.floor(now() / 1_000))
    return { body, t, v1: await computeSignature(signingSecret, t, body) }
  }
  const deliver: Bench['deliver'] = (body, signature) => buildDelivery(integrationAddress, body, signature)
  return {
    ...sender,
    url: target,
    deliveries: createDeliveries({ secret: signingSecret, clock }),
    signingSecret,
    apiSecret,
    timeoutMs,
    sign,
    deliver,
    payment: (fields) =>
      build.snapshot({
        txHash: `${doctorHashPrefix}${build.txHash().slice(doctorHashPrefix.length)}`,
        state: 'pending',
        recipient: { title: 'Doctor', subtitle: 'A test of the receiver' },
        invoice,
        ...fields,
      }),
    async deliverText(text) {
      const { body, t, v1 } = await sign(text)
      return deliver(body, `t=${t},v1=${v1}`)
    },
  }
}

const noAnswerCauses: Readonly<Record<DoctorNoAnswer, DoctorCauseCode>> = {
  dns: 'host-unknown',
  rejected: 'connection-refused',
  tls: 'certificate-invalid',
  reset: 'connection-reset',
  timeout: 'slow-answer',
  'not-http': 'not-http',
  failed: 'connection-reset',
}

/** Whether the status is 2xx, the only success of a delivery. */
export function isAccepted({ status }: SocketAnswer): boolean {
  return status !== null && status >= 200 && status < 300
}

/** Whether the status asks for a retry, as a receiver may while it handles another delivery of the same payment. */
export function asksForRetry({ status }: SocketAnswer): boolean {
  return status !== null && [409, 423, 425, 429, 503].includes(status)
}

/** The cause in network, redirect, rate limit or response time, whatever the request; null: none. */
export function transportCause(answer: SocketAnswer, timeoutMs: number): DoctorCauseCode | null {
  const { status, noAnswer, ms } = answer
  if (noAnswer !== null) return noAnswerCauses[noAnswer]
  if (status !== null && status >= 300 && status < 400) return 'redirects'
  if (status === 429) return 'rate-limited'
  return ms > timeoutMs ? 'slow-answer' : null
}

/** Requires every answer to be 2xx. @param cause - Reported when an answer is not 2xx. */
export function judgeAccepted(answers: readonly SocketAnswer[], cause: DoctorCauseCode, timeoutMs: number): Judgement {
  for (const answer of answers) {
    const transport = transportCause(answer, timeoutMs)
    if (isAccepted(answer) && transport === null) continue
    return { verdict: 'fail', cause: transport ?? (answer.status === 413 ? 'body-limit-low' : cause), answers }
  }
  return { verdict: 'pass', cause: null, answers }
}

/** Requires that no answer is 2xx, and prefers 4xx. @param cause - Reported when an answer is 2xx. */
export function judgeRejected(answers: readonly SocketAnswer[], cause: DoctorCauseCode, timeoutMs: number): Judgement {
  if (answers.some(isAccepted)) return { verdict: 'fail', cause, answers }
  const transport = answers.map((answer) => transportCause(answer, timeoutMs)).find((each) => each !== null)
  if (transport === 'connection-reset') return { verdict: 'warn', cause: 'rejected-without-answer', answers }
  if (transport !== undefined)
    return { verdict: transport === 'rate-limited' ? 'warn' : 'fail', cause: transport, answers }
  if (answers.some(({ status }) => Number(status) >= 500))
    return { verdict: 'warn', cause: 'rejected-with-5xx', answers }
  return { verdict: 'pass', cause: null, answers }
}

/** A verdict before causes are compared across probes. */
export interface Judgement {
  readonly verdict: 'pass' | 'fail' | 'warn'
  readonly cause: DoctorCauseCode | null
  readonly answers: readonly SocketAnswer[]
  /** Text that follows the statuses. */
  readonly note?: string | undefined
}

export interface ProbeSpec {
  readonly sent: string
  readonly expected: string
  readonly clause: string
  /** The number of effects at a correct receiver; null when the probe cannot know. */
  readonly effects: number | null
  /** Whether the probe needs its own connections. */
  readonly needsSockets?: true
  /** Runs the probe. @param earlierAnswers - All answers of earlier probes. */
  run(bench: Bench, earlierAnswers: readonly SocketAnswer[]): Promise<Judgement>
}

export type ProbeTable = Readonly<Record<string, ProbeSpec>>

/** A probe that sends its deliveries one after the other. */
interface Shots {
  readonly sent: string
  readonly clause: string
  readonly cause: DoctorCauseCode
  make(bench: Bench): Promise<readonly SignedDelivery[]>
}

/** The clause about the answer to a valid delivery. */
export const anyOther = '6 Delivery: any 2xx is success, any other answer a failure'

export async function sendInTurn(bench: Bench, deliveries: readonly SignedDelivery[]): Promise<SocketAnswer[]> {
  const answers: SocketAnswer[] = []
  for (const delivery of deliveries) answers.push(await bench.send(delivery))
  return answers
}

/** A probe whose every delivery must be answered 2xx. */
export function accepted({ make, cause, effects = 1, ...rest }: Shots & { readonly effects?: number }): ProbeSpec {
  return {
    ...rest,
    effects,
    expected: '2xx',
    run: async (bench) => judgeAccepted(await sendInTurn(bench, await make(bench)), cause, bench.timeoutMs),
  }
}

/** A probe whose every delivery must be rejected. */
export function rejected({ make, cause, ...rest }: Shots): ProbeSpec {
  return {
    ...rest,
    expected: '4xx',
    effects: 0,
    run: async (bench) => judgeRejected(await sendInTurn(bench, await make(bench)), cause, bench.timeoutMs),
  }
}

/** Signs a new payment, and builds a request whose header is made from the signature's parts. */
export async function withHeader(bench: Bench, header: (parts: SignedParts) => string): Promise<SignedDelivery> {
  const parts = await bench.sign(JSON.stringify(bench.payment()))
  return bench.deliver(parts.body, header(parts))
}
