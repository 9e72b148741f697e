/** Lets a test, or a trigger, act for applicants and reviewers. @module */

import type { TriggerVerdict } from '@payment-integration/contract/internal'
import {
  type AnnounceEvent,
  type ApplicantRecord,
  type ApplicantView,
  decide,
  findSteps,
  handIn,
  type IntermediateState,
  moveTo,
  type NewApplicant,
  type ProviderState,
  type Redemption,
  type Rejection,
  remove,
  requireClient,
  reset,
  setActive,
  toView,
} from './applicants.js'
import { clientDefaults, ProviderRejection } from './authenticate.js'
import { buildApplicant, mint } from './redeem.js'

/** The part of a running provider that changes and shows its data. An unknown id is a RangeError. */
export interface ProviderControl {
  /** Redeemed share tokens, oldest first. */
  readonly redemptions: readonly Redemption[]
  /** Adds an applicant without an event, such as a donor's, who was verified before. */
  addApplicant(applicant: NewApplicant): ApplicantView
  /** An applicant, or null when it does not exist or is deleted. */
  applicant(applicantId: string): ApplicantView | null
  /** All applicants of a client, oldest first. */
  applicants(clientId: string): ApplicantView[]
  /**
   * Mints a share token for the donor, without a request.
   * @throws RangeError When the provider would reject the request.
   */
  mintShareToken(token: {
    readonly applicantId: string
    readonly forClientId: string
    readonly ttlInSecs?: number | undefined
  }): string
  /** Completes the check with GREEN. */
  approve(applicantId: string): void
  /** Completes the check with RED. */
  reject(applicantId: string, rejection?: Rejection): void
  /** Moves the check to an intermediate state. */
  moveTo(applicantId: string, status: IntermediateState): void
  /** Submits the missing documents of the level; then the check is pending. */
  handIn(applicantId: string): void
  /** Resets the check: `init`, without documents. */
  resetApplicant(applicantId: string): void
  setActive(applicantId: string, isActive: boolean): void
  deleteApplicant(applicantId: string): void
  /** Emits any event of an applicant; `fields` replace those of its body. */
  announce(applicantId: string, type: string, fields?: Readonly<Record<string, unknown>>): void
}

export function createControl(state: ProviderState, announce: AnnounceEvent): ProviderControl {
  const requireExisting = (applicantId: string): ApplicantRecord => {
    const applicant = state.applicants.get(applicantId)
    if (applicant === undefined || applicant.isDeleted) throw new RangeError(`There is no applicant ${applicantId}.`)
    return applicant
  }
  return {
    redemptions: state.redemptions,
    addApplicant: (added) => toView(add(state, added)),
    applicant(applicantId) {
      const applicant = state.applicants.get(applicantId)
      return applicant === undefined || applicant.isDeleted ? null : toView(applicant)
    },
    applicants(clientId) {
      const { clientId: id } = requireClient(state, clientId)
      return [...state.applicants.values()].filter((each) => each.clientId === id && !each.isDeleted).map(toView)
    },
    mintShareToken(wanted) {
      const donor = requireClient(state, requireExisting(wanted.applicantId).clientId)
      try {
        return mint(state, donor, (name) => wanted[name as keyof typeof wanted]).token
      } catch (error) {
        throw error instanceof ProviderRejection ? new RangeError(error.message) : error
      }
    },
    approve: (applicantId) => decide(state, requireExisting(applicantId), null, announce),
    reject: (applicantId, rejection = {}) => decide(state, requireExisting(applicantId), rejection, announce),
    moveTo: (applicantId, status) => moveTo(state, requireExisting(applicantId), status, announce),
    handIn(applicantId) {
      const applicant = requireExisting(applicantId)
      handIn(state, applicant, findSteps(requireClient(state, applicant.clientId), applicant.levelName) ?? [], announce)
    },
    resetApplicant: (applicantId) => reset(state, requireExisting(applicantId), announce),
    setActive: (applicantId, isActive) => setActive(requireExisting(applicantId), isActive, announce),
    deleteApplicant: (applicantId) => remove(requireExisting(applicantId), announce),
    announce: (applicantId, type, fields) => announce(requireExisting(applicantId), type, fields),
  }
}

function add(state: ProviderState, { clientId, as = 'approved', ...wanted }: NewApplicant): ApplicantRecord {
  const client = requireClient(state, clientId)
  const { levelName = Object.keys(client.levels ?? clientDefaults.levels)[0] ?? '' } = wanted
  const required = findSteps(client, levelName)
  if (required === null) throw new RangeError(`The client ${clientId} has no level ${levelName}.`)
  const { externalUserId = `user-${state.newId()}`, steps = required } = wanted
  const applicant = buildApplicant(state, { clientId, externalUserId, levelName })
  applicant.steps = [...steps]
  const silently = () => undefined
  if (as === 'pending') moveTo(state, applicant, 'pending', silently)
  if (as === 'approved') decide(state, applicant, null, silently)
  if (as === 'rejected') decide(state, applicant, {}, silently)
  state.applicants.set(applicant.id, applicant)
  return applicant
}

/** What the scenario `kyc` needs of an identity provider. */
export interface TriggerIdentity {
  /** A new share token of a new verified user. */
  mint(): string
  /** Decides on the verification that a share token was redeemed for. */
  decide(shareToken: string, verdict: TriggerVerdict): void
}

/**
 * Lets the scenario `kyc` use a local provider.
 * @param clients - The donor's client id, and the service's.
 * @example createSimulatedChains({ ...chains, identity: triggerIdentity(provider, { donor: 'Shop', service: 'Pay' }) })
 */
export function triggerIdentity(
  provider: Pick<ProviderControl, 'addApplicant' | 'mintShareToken' | 'redemptions' | 'approve' | 'reject'>,
  clients: { readonly donor: string; readonly service: string },
): TriggerIdentity {
  return {
    mint() {
      const { id: applicantId } = provider.addApplicant({ clientId: clients.donor })
      return provider.mintShareToken({ applicantId, forClientId: clients.service })
    },
    decide(shareToken, verdict) {
      const redemption = provider.redemptions.find(({ token }) => token === shareToken)
      if (redemption === undefined) throw new RangeError('This share token was not redeemed.')
      if (verdict === 'green') provider.approve(redemption.applicantId)
      else provider.reject(redemption.applicantId, { rejectType: verdict === 'red-final' ? 'FINAL' : 'RETRY' })
    },
  }
}
