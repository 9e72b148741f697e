/** What the judge knows of a history so far. @module */
import type { FakeProvider, ProviderCall } from '../fake-provider.js'
import type { View } from '../system-under-test.js'
import type { Operation } from '../world.js'

/** A redemption that a share began. */
export interface Begun {
  readonly externalUserId: string
  readonly order: number
  readonly subjectId: string
  readonly integration: string
  readonly leaseUntil: number
  /** The shares that may have begun it: one, once its token was sent. */
  shares: Operation[]
  /** An operator said that its token was not redeemed. */
  operatorSaidAbsent: boolean
  /** The share that answered `reused: true` for it. */
  answeredBy: Operation | null
  /** Every answer with its review that was right at some time since it was attached. */
  readonly told: Set<string>
}

/** What an operation that runs could answer, from the states seen since its call. */
export interface Watched {
  readonly operation: Operation
  readonly first: View
  /** Answers as JSON text. */
  readonly answers: Set<string>
  readonly callsBefore: number
  /** Provider calls that had no answer yet at its call. */
  readonly waiting: ReadonlySet<ProviderCall>
  /** Names that it may have had to look up. */
  readonly lookedUp: Set<string>
  /** Names of redemptions that used no token, as it seemed: it may have looked them up once more. */
  readonly absent: Set<string>
  /** Former verdicts that a 422 could answer. */
  readonly former: Set<string>
  /** Other operations ran at the same time. */
  isAlone: boolean
}

/** A committed change: each operation that may have made it, and what it may answer then as JSON text. */
export type Commit = ReadonlyMap<Operation, ReadonlySet<string>>

export interface Change {
  readonly before: View
  readonly after: View
  readonly now: number
}

export interface Case {
  readonly provider: FakeProvider
  readonly begun: Map<string, Begun>
  readonly watched: Map<Operation, Watched>
  readonly commits: Commit[]
  /** Changes that operations may have made or not: the view is explained with them and without. */
  readonly possible: Commit[]
  /** Keys of events that counted for certain: the same key must not count again. */
  readonly counted: Set<string>
  readonly registered: Set<string>
  /** When each applicant was first seen to be gone. */
  readonly goneAt: Map<string, number>
  /** Keys of events that a webhook accepted. */
  readonly accepted: Set<string>
  seenCalls: number
}

/** A promise of the text that was broken. */
export class Broken extends Error {
  override readonly name = 'Broken'
}
export function demand(condition: boolean, message: () => string): asserts condition {
  if (!condition) throw new Broken(message())
}
