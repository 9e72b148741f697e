/** The state of the provider. @module */
import type { ApplicantRecord } from './applicants.js'
import { Refusal } from './errors.js'
import { clientDefaults, type ProviderClient } from './options.js'

/** A minted share token. */
export interface ShareToken {
  /** The text of the token. */
  readonly token: string
  /** Its id, which descriptions of errors name. */
  readonly id: string
  readonly applicantId: string
  readonly donorClientId: string
  readonly forClientId: string
  readonly createdAt: number
  readonly ttlInSecs: number
  usedAt: number | null
}

/** A redeemed share token with its applicant. */
export interface Redemption {
  readonly token: string
  readonly by: 'reuse' | 'import'
  readonly clientId: string
  readonly externalUserId: string
  readonly applicantId: string
  /** Unix time in milliseconds. */
  readonly at: number
}

/** The data of the provider, its clock and its source of ids. */
export interface ProviderState {
  readonly clients: ReadonlyMap<string, ProviderClient>
  readonly applicants: Map<string, ApplicantRecord>
  readonly shareTokens: Map<string, ShareToken>
  readonly redemptions: Redemption[]
  readonly now: () => number
  readonly newId: () => string
}

/** The client of an id. @throws RangeError When there is none: a test named it wrongly. */
export function clientOf(state: ProviderState, clientId: string): ProviderClient {
  const client = state.clients.get(clientId)
  if (client === undefined) throw new RangeError(`There is no client ${clientId}; the provider was started without it.`)
  return client
}

/** Steps of a level, or null when the client has no such level. */
export function stepsOf(client: ProviderClient, levelName: string): readonly string[] | null {
  const levels = client.levels ?? clientDefaults.levels
  return Object.hasOwn(levels, levelName) ? (levels[levelName] ?? null) : null
}

/**
 * An applicant of a client, as its own API shows it.
 * @throws Refusal 404 for unknown, deleted and other clients' applicants.
 */
export function applicantOf(state: ProviderState, client: ProviderClient, applicantId: string): ApplicantRecord {
  const applicant = state.applicants.get(applicantId)
  if (applicant === undefined || applicant.isDeleted || applicant.clientId !== client.clientId)
    throw new Refusal(404, 'Applicant not found')
  return applicant
}

/** The applicant of a client by external user id, or undefined. */
export function applicantNamed(
  state: ProviderState,
  client: ProviderClient,
  externalUserId: string,
): ApplicantRecord | undefined {
  return [...state.applicants.values()].find(
    (each) => each.clientId === client.clientId && each.externalUserId === externalUserId && !each.isDeleted,
  )
}
