/** A due delivery that a claim may take. @module */

/** A due delivery. */
export interface Candidate {
  readonly id: number
  readonly dueAt: number
  /** 1 for every probe. */
  readonly lane: number
  readonly integration: string
  /** As `endpointOf` names it. */
  readonly endpoint: string
  /** Its integration was blocked, and gets this one to see whether it answers again. */
  readonly probe: boolean
}
