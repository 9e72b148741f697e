/** The form of a probe, and the two common kinds. @module */
import type { SignedDelivery } from '../../deliveries/create-deliveries.js'
import type { Bench, SignedParts } from '../bench.js'
import type { DoctorCauseCode } from '../causes.js'
import { judgeAccepted, judgeRejected } from '../judge.js'
import type { DoctorProbeName } from '../probe-names.js'
import type { Judgement, SocketAnswer } from '../report.js'

/** A probe. */
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
export interface Shots {
  readonly name: DoctorProbeName
  readonly sent: string
  readonly clause: string
  readonly cause: DoctorCauseCode
  make(bench: Bench): Promise<readonly SignedDelivery[]>
}

/** Clause of the answer to a valid delivery. */
export const anyOther = '6 Delivery: any 2xx is success, any other answer a failure'

/** Sends one after the other. */
export async function sendInTurn(bench: Bench, deliveries: readonly SignedDelivery[]): Promise<SocketAnswer[]> {
  const answers: SocketAnswer[] = []
  for (const delivery of deliveries) answers.push(await bench.send(delivery))
  return answers
}

/** A probe whose every delivery must be answered 2xx. */
export function accepted({ make, cause, ...rest }: Shots & { readonly effects: number }): ProbeSpec {
  return {
    ...rest,
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
