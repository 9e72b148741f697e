/** The options, the probes and the report of the doctor. @module */
import { deliveryTimeoutMs } from '@payment-integration/contract'
import { parseUrl } from '@payment-integration/contract/internal'
import type { DoctorCause, DoctorFix } from './causes.js'
import { connectionProbes, lastProbes, reachProbes } from './probes/connection.js'
import type { ReceiverOptions } from './probes/probe.js'
import { contentTypeProbes, rejectedProbes, windowProbes } from './probes/rejected.js'
import { bodyProbes, headerProbes, versionProbes } from './probes/valid.js'
import type { DoctorAnswer, DoctorFetch } from './send.js'

/** Every probe, in the order in which they run. */
export const probes = {
  ...reachProbes,
  ...bodyProbes,
  ...headerProbes,
  ...versionProbes,
  ...rejectedProbes,
  ...windowProbes,
  ...contentTypeProbes,
  ...connectionProbes,
  ...lastProbes,
}

export type DoctorProbeName = keyof typeof probes

/** Names of the probes, in the order in which they run. */
export const doctorProbeNames = Object.keys(probes) as readonly DoctorProbeName[]

/** Options of {@link runDoctor}. */
export interface DoctorOptions {
  /** The notification URL of the receiver. */
  readonly url: string
  /** The webhook signing secret of the receiver. It is never sent. */
  readonly signingSecret: string
  /** The integration of the deliveries: 0x and 40 hex digits. */
  readonly integrationAddress: string
  /** The API secret. It reveals a receiver that verifies with it by mistake. It is never sent. @default none */
  readonly apiSecret?: string | undefined
  /** The clock: milliseconds since the epoch. @default Date */
  readonly clock?: { now(): number } | undefined
  /** Seed of the payments, a whole number from 0 to 4294967295. @default the clock, so each run has new payments */
  readonly seed?: number | undefined
  /** Sends the requests; probes of connections then do not run. @default the doctor's own connections */
  readonly fetch?: DoctorFetch | undefined
  /** The time limit of an answer, in milliseconds. @default 5000, as in the service */
  readonly timeoutMs?: number | undefined
  /** Ends the run early: the promise rejects with the signal's reason. @default none */
  readonly signal?: AbortSignal | undefined
  /** Counts handled versions, also after an answer. Probes then check that each has one effect. @default none */
  readonly effects?: (() => Promise<number>) | undefined
  /** Called with each probe when it ends. The final report may name a cause of several probes. @default nothing */
  readonly onProbe?: ((probe: DoctorProbe) => void) | undefined
}

export type CheckedOptions = DoctorOptions & ReceiverOptions

const maxTimeoutMs = 600_000

/** Checks the options. @throws {TypeError | RangeError} For an unusable option. The message has no secret. */
export function checkOptions(options: DoctorOptions): CheckedOptions {
  const { url, signingSecret, integrationAddress, clock = { now: () => Date.now() } } = Object(options) as DoctorOptions
  const { timeoutMs = deliveryTimeoutMs, seed = Math.floor(clock.now()) % 0x1_0000_0000 } = options
  const target = typeof url === 'string' ? parseUrl(url) : null
  if (target === null || !/^https?:$/.test(target.protocol))
    throw new TypeError(
      'url is no http: or https: URL; pass the notification URL, such as https://shop.example/webhook.',
    )
  if (target.username !== '' || target.password !== '')
    throw new TypeError('url has a user or a password; the service sends none, so remove them.')
  if (typeof signingSecret !== 'string' || signingSecret === '')
    throw new TypeError('signingSecret is empty; pass the webhook signing secret of the receiver.')
  if (typeof integrationAddress !== 'string' || !/^0x[0-9a-fA-F]{40}$/.test(integrationAddress))
    throw new TypeError('integrationAddress is not an address; pass 0x and 40 hex digits.')
  if (!(timeoutMs > 0 && timeoutMs <= maxTimeoutMs))
    throw new RangeError(`timeoutMs is ${timeoutMs}; pass milliseconds from 1 to ${maxTimeoutMs}.`)
  target.hash = ''
  return { ...options, integrationAddress: integrationAddress.toLowerCase(), clock, seed, timeoutMs, target }
}

/** The result of a probe. */
export interface DoctorProbe {
  readonly name: DoctorProbeName
  /** `not-run`: an earlier result makes the probe meaningless, or the sender does not support the probe. */
  readonly verdict: 'pass' | 'fail' | 'warn' | 'not-run'
  /** The request that was sent. */
  readonly sent: string
  /** The answer that the interface requires. */
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
  /** The number of probes by result. */
  readonly passed: number
  readonly failed: number
  readonly warned: number
  readonly notRun: number
  readonly probes: readonly DoctorProbe[]
  /** The causes without repetition, failures first. */
  readonly findings: readonly DoctorFinding[]
}
