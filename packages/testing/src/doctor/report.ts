/** The report of the doctor: its probes, their verdicts, and the causes. @module */
import type { DoctorCause, DoctorCauseCode, DoctorFix } from './causes.js'

/** Names of the probes. */
export const doctorProbeNames = [
  'https-url',
  'reachable',
  'redirect',
  'good',
  'pretty-printed',
  'unicode',
  'long-text',
  'unknown-fields',
  'unknown-state',
  'every-state',
  'null-fields',
  'second-scheme',
  'second-scheme-first',
  'reordered-fields',
  'unknown-header-field',
  'header-case',
  'duplicate',
  'lower-version',
  'version-gap',
  'same-hash-other-chain',
  'two-at-once',
  'two-versions-at-once',
  'unsigned',
  'malformed-signature',
  'forged',
  'other-secret',
  'partial-signature',
  'wrong-scheme',
  'tampered',
  'changed-amount',
  'stale',
  'future',
  'just-stale',
  'just-future',
  'slightly-old',
  'slightly-ahead',
  'charset',
  'other-content-type',
  'keep-alive',
  'keep-alive-after-rejection',
  'large-body',
  'in-pieces',
  'broken-upload',
  'answer-time',
  'still-good',
] as const

/** Name of a probe. */
export type DoctorProbeName = (typeof doctorProbeNames)[number]

/** Why no answer arrived. */
export type DoctorNoAnswer = 'dns' | 'rejected' | 'tls' | 'reset' | 'timeout' | 'not-http' | 'failed'

/** One answer of the receiver, or none. Bodies and headers of answers are not kept. */
export interface DoctorAnswer {
  /** HTTP status, or null without an answer. */
  readonly status: number | null
  /** Milliseconds from the request to the head of the answer. */
  readonly ms: number
  /** Why there is no answer, or null. */
  readonly noAnswer: DoctorNoAnswer | null
}

/** `not-run`: an earlier result makes the probe meaningless, or the way of sending cannot do it. */
export type DoctorVerdict = 'pass' | 'fail' | 'warn' | 'not-run'

/** The result of a probe. */
export interface DoctorProbe {
  readonly name: DoctorProbeName
  readonly verdict: DoctorVerdict
  /** The request that was sent. */
  readonly sent: string
  /** The answer that the interface demands. */
  readonly expected: string
  /** The clause of docs/interface.md. */
  readonly clause: string
  /** The answers, in the order of the requests. */
  readonly answered: readonly DoctorAnswer[]
  /** The observation, in words. It has no body, secret or signature. */
  readonly evidence: string
  /** Null for a probe that passed or did not run. */
  readonly cause: DoctorCause | null
  /** Null for a probe that passed or did not run. */
  readonly fix: DoctorFix | null
}

/** A cause with the probes that it explains. */
export interface DoctorFinding extends DoctorCause {
  readonly verdict: 'fail' | 'warn'
  readonly probes: readonly DoctorProbeName[]
  readonly fix: DoctorFix
}

/** The report of a run. */
export interface DoctorReport {
  readonly url: string
  /** The seed of the payments. */
  readonly seed: number
  /** Numbers of probes. */
  readonly passed: number
  readonly failed: number
  readonly warned: number
  readonly notRun: number
  readonly probes: readonly DoctorProbe[]
  /** Each cause once, failures first. */
  readonly findings: readonly DoctorFinding[]
}

/** An answer with what only the engine needs. */
export interface SocketAnswer extends DoctorAnswer {
  /** Target of a redirect, or null. */
  readonly location: string | null
  /** The header `Retry-After`, or null. */
  readonly retryAfter: string | null
  /** The receiver's clock, in milliseconds since the epoch, or null. */
  readonly date: number | null
  /** Whether the answer asks for credentials. */
  readonly wantsLogin: boolean
  /** Whether the request went over a connection that had served one before. */
  readonly reused: boolean
  /** The error code of the system, such as `ENOTFOUND`, or null. */
  readonly errorCode: string | null
}

/** A verdict before causes are compared across probes. */
export interface Judgement {
  readonly verdict: 'pass' | 'fail' | 'warn'
  readonly cause: DoctorCauseCode | null
  readonly answers: readonly SocketAnswer[]
  /** Words after the statuses. */
  readonly note?: string | undefined
}
