/** The tools of a server in development, as its host passes them. No secret reaches the console. @module */

/** Tools; the page shows those that are given. */
export interface ConsoleTools {
  /** Causes events on simulated chains. Source: docs/decisions/trigger-and-listen.md. */
  readonly trigger?: TriggerTool | undefined
  /** Probes the receiver of an integration at its notification URL, with its own secret. */
  readonly doctor?: ((input: DoctorInput) => Promise<DoctorResult>) | undefined
  /** Explains whether a delivery verifies with the secret of an integration, and if not why. */
  readonly explain?: ((input: ExplainForm) => Promise<ExplainResult>) | undefined
}

/** Causes events. */
export interface TriggerTool {
  /** The simulated chains. */
  readonly chainIds: readonly number[]
  /**
   * Causes events while they are read. An error with the code `ERR_TRIGGER_INVALID`, thrown at once, refuses the
   * request; one with `ERR_TRIGGER` ends the events early. Both have a message for people.
   */
  run(request: unknown, caller: { readonly integrationAddress: string }): AsyncIterable<object>
}

/** Which receiver to probe. */
export interface DoctorInput {
  readonly integrationAddress: string
  readonly signal: AbortSignal
  /** Receives each probe when it ends. */
  onProbe(probe: ReceiverProbe): void
}

/** A probe of a receiver. */
export interface ReceiverProbe {
  readonly name: string
  readonly verdict: 'pass' | 'fail' | 'warn' | 'not-run'
  /** The request that was sent, and the answer that the interface demands. */
  readonly sent: string
  readonly expected: string
  /** The observation, in words. */
  readonly evidence: string
}

/** The result of all probes. */
export interface DoctorResult {
  readonly passed: number
  readonly failed: number
  readonly warned: number
  readonly notRun: number
  /** Each cause once, failures first. */
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
  /** Time of the receipt, in unix milliseconds. */
  readonly receivedAt: number
}

/** The verdict, or a sentence that says why the input is unreadable. */
export type ExplainResult = { readonly problem: string } | ExplainedDelivery

/** The verdict, field by field. It holds no secret and no signature. */
export interface ExplainedDelivery {
  readonly verified: boolean
  /** `repaired`: it matches once the proved faults are undone. */
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

/** Whether there is any tool. */
export const hasTools = ({ trigger, doctor, explain }: ConsoleTools): boolean =>
  trigger !== undefined || doctor !== undefined || explain !== undefined
