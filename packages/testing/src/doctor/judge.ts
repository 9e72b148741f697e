/** Decides from answers whether a receiver accepted or rejected. Source: docs/interface.md 6, delivery. @module */
import type { DoctorCauseCode } from './causes.js'
import type { DoctorNoAnswer, Judgement, SocketAnswer } from './report.js'

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
