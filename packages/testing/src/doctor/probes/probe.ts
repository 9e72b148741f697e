/** The form of a probe, and how its answers are judged. Source: docs/interface.md 6, delivery. @module */

import type { SignedDelivery } from '../../deliveries.js'
import type { Bench, SignedParts } from '../bench.js'
import type { DoctorCauseCode } from '../causes.js'
import type { DoctorNoAnswer, DoctorProbeName, Judgement, SocketAnswer } from '../report.js'

const causeOfNoAnswer: Readonly<Record<DoctorNoAnswer, DoctorCauseCode>> = {
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

/** Whether the status is one with which a receiver asks for a retry of a valid delivery that meets another one. */
export function asksForRetry({ status }: SocketAnswer): boolean {
  return status !== null && [409, 423, 425, 429, 503].includes(status)
}

/** The cause that lies in the way to the receiver or in its time, whatever was sent; else null. */
export function transportCause(answer: SocketAnswer, timeoutMs: number): DoctorCauseCode | null {
  const { status, noAnswer, ms } = answer
  if (noAnswer !== null) return causeOfNoAnswer[noAnswer]
  if (status !== null && status >= 300 && status < 400) return 'redirects'
  if (status === 429) return 'rate-limited'
  return ms > timeoutMs ? 'slow-answer' : null
}

/** Every answer must be 2xx. @param cause - Named when one is not. */
export function judgeAccepted(answers: readonly SocketAnswer[], cause: DoctorCauseCode, timeoutMs: number): Judgement {
  for (const answer of answers) {
    const transport = transportCause(answer, timeoutMs)
    if (isAccepted(answer) && transport === null) continue
    return { verdict: 'fail', cause: transport ?? (answer.status === 413 ? 'body-limit-low' : cause), answers }
  }
  return { verdict: 'pass', cause: null, answers }
}

/** No answer may be 2xx; each is best a 4xx. @param cause - Named when one is 2xx. */
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

export interface ProbeSpec {
  readonly name: DoctorProbeName
  readonly sent: string
  readonly expected: string
  readonly clause: string
  /** Effects of a correct receiver; null when the probe cannot say. */
  readonly effects: number | null
  /** Whether it opens connections of its own. */
  readonly needsSockets?: true
  /** @param seen - All answers of earlier probes. */
  run(bench: Bench, seen: readonly SocketAnswer[]): Promise<Judgement>
}

/** A probe whose deliveries are sent one after the other. */
interface Shots {
  readonly name: DoctorProbeName
  readonly sent: string
  readonly clause: string
  readonly cause: DoctorCauseCode
  make(bench: Bench): Promise<readonly SignedDelivery[]>
}

/** Clause of the answer to a valid delivery. */
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

/** Signs a new payment and packs it with a header made from the parts. */
export async function withHeader(
  bench: Bench,
  header: (parts: SignedParts) => string,
  ageSeconds = 0,
): Promise<SignedDelivery> {
  const parts = await bench.sign(JSON.stringify(bench.payment()), { ageSeconds })
  return bench.deliver(parts.body, header(parts))
}
