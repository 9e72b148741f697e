/** The tools of a server in development, as its host passes them. No secret reaches the console. @module */

/** The development tools; the page shows those that the host passes. */
export interface ConsoleTools {
  /** Causes events on simulated chains. Source: docs/decisions/trigger-and-listen.md. @default none */
  readonly trigger?: TriggerTool | undefined
  /** Probes an integration's receiver at the notification URL, with the integration's secret. @default none */
  readonly doctor?: ((input: DoctorInput) => Promise<DoctorResult>) | undefined
  /** Explains whether a delivery verifies with an integration's secret, and why it fails. @default none */
  readonly explain?: ((input: ExplainForm) => Promise<ExplainResult>) | undefined
}

export interface TriggerTool {
  readonly chainIds: readonly number[]
  /**
   * Causes each event when the caller reads it. An invalid request throws an error of code `ERR_TRIGGER_INVALID` at
   * once; an error with `ERR_TRIGGER` ends the events early. Both messages are for people.
   */
  run(request: unknown, caller: { readonly integrationAddress: string }): AsyncIterable<object>
}

/** The receiver to probe. */
export interface DoctorInput {
  readonly integrationAddress: string
  /** Aborts the run. */
  readonly signal: AbortSignal
  /** Called with each probe when the probe ends. */
  onProbe(probe: ReceiverProbe): void
}

export interface ReceiverProbe {
  readonly name: string
  readonly verdict: 'pass' | 'fail' | 'warn' | 'not-run'
  /** The request that was sent, and the answer that the interface requires. */
  readonly sent: string
  readonly expected: string
  /** The observation, in words. */
  readonly evidence: string
}

/** The result of all probes. */
export interface DoctorResult {
  /** Probes by result. */
  readonly passed: number
  readonly failed: number
  readonly warned: number
  readonly notRun: number
  /** The findings, each cause once, failures first. */
  readonly findings: readonly {
    readonly verdict: 'fail' | 'warn'
    readonly sentence: string
    readonly probes: readonly string[]
    readonly fix: { readonly summary: string }
  }[]
}

/** A delivery as it arrived, pasted by a person. */
export interface ExplainForm {
  readonly integrationAddress: string
  /** Lines `Name: value`, or JSON. */
  readonly headers: string
  readonly body: string
  /** When the receiver got the delivery, in unix milliseconds. */
  readonly receivedAt: number
}

/** The verdict, or a sentence that says why the input is unreadable. */
export type ExplainResult = { readonly problem: string } | ExplainedDelivery

/** The verdict, field by field. It holds no secret and no signature. */
export interface ExplainedDelivery {
  readonly verified: boolean
  /** `repaired`: the signature matches once the proved faults are undone. */
  readonly signature: 'matches' | 'repaired' | 'differs' | 'unreadable'
  readonly header: {
    readonly count: number
    readonly fields: readonly { readonly name: string; readonly length: number; readonly status: string }[]
    readonly t: number | null
  }
  readonly ageSeconds: number | null
  readonly toleranceSeconds: number
  readonly bodyBytes: number
  readonly signedBytes: number | null
  readonly findings: readonly {
    readonly code: string
    readonly proved: boolean
    readonly cause: string
    readonly evidence: readonly string[]
    readonly change: string
  }[]
}

export const hasTools = (tools: ConsoleTools): boolean => Object.values(tools).some((tool) => tool !== undefined)
