/** Acts for applicants and reviewers; causes failures of networks, gateways and processes. @module */
import { setTimeout } from 'node:timers/promises'
import type { TriggerVerdict } from '@payment-integration/contract/internal'
import {
  type ApplicantRecord,
  type ApplicantView,
  buildApplicant,
  findMissingSteps,
  findSteps,
  type IntermediateState,
  type NewApplicant,
  type ProviderState,
  type Redemption,
  type Rejection,
  requireClient,
  resetReview,
  setReviewState,
  setVerdict,
  toView,
} from './applicants.js'
import { buildErrorBody, defaultLevels, type ErrorCode, ProviderRejection } from './authenticate.js'
import { mint } from './redeem.js'

/** Time between two bytes of a dripping answer, in milliseconds. */
const dripMs = 100

export type ProviderOperation = 'mint' | 'reuse' | 'import' | 'find' | 'status'

/** Replaces the answer. A number is an HTTP status; `errorCode` is one of the provider's errors. */
type ProviderFaultAnswer =
  | number
  | { readonly errorCode: ErrorCode }
  /** The connection closes without a byte; `fetch` rejects. */
  | 'lost'
  /** No answer arrives until the provider closes; `fetch` rejects once its signal aborts. */
  | 'hang'
  /** Half of the answer, as a complete response. */
  | 'cut-json'
  /** Half of the answer, then the connection closes. */
  | 'cut-connection'
  /** A gateway's page, with status 200. */
  | 'html'
  | 'empty'
  /** The answer as text/plain. */
  | 'wrong-content-type'
  /** 307 to the given address. */
  | { readonly redirectTo: string }
  /** The answer, followed by 8 MiB of blanks. */
  | 'huge'
  /** The answer, one byte every 100 ms. */
  | 'drip'

/** A fault, for the next requests of one kind. */
export interface ProviderFault {
  /** The kind of request that fails. */
  readonly on: ProviderOperation
  /** `after`: the provider executes the request first, so a redemption has an unknown outcome for its caller. */
  readonly at: 'before' | 'after'
  /** The faulty answer. */
  readonly answer: ProviderFaultAnswer
  /** Number of requests that fail. @default 1 */
  readonly times?: number | undefined
}

/** Faults for the next requests. */
export function createFaultQueue<Fault extends { readonly times?: number | undefined }>() {
  let queue: { readonly fault: Fault; remaining: number }[] = []
  return {
    add(fault: Fault): void {
      queue.push({ fault, remaining: fault.times ?? 1 })
    },
    /** Removes and returns the first fault that fits the request. */
    take(fits: (fault: Fault) => boolean = () => true): Fault | null {
      const next = queue.find(({ fault }) => fits(fault))
      if (next === undefined) return null
      next.remaining -= 1
      queue = queue.filter(({ remaining }) => remaining > 0)
      return next.fault
    },
    clear() {
      queue = []
    },
  }
}

/** Builds the faulty response; `json` is the answer without the fault. */
export async function buildFaultyResponse(
  { answer }: ProviderFault,
  json: string,
  { correlationId, request }: { readonly correlationId: string; readonly request: Request },
): Promise<Response> {
  if (typeof answer === 'object' && 'redirectTo' in answer)
    return new Response(null, { status: 307, headers: { Location: answer.redirectTo } })
  if (typeof answer === 'number' || typeof answer === 'object') {
    const rejection =
      typeof answer === 'number'
        ? new ProviderRejection(answer, 'Fault on request')
        : new ProviderRejection(400, answer.errorCode)
    return buildJsonResponse(JSON.stringify(buildErrorBody(rejection, correlationId)), rejection.status)
  }
  const bytes = Buffer.from(json)
  const half = bytes.subarray(0, bytes.length >> 1)
  switch (answer) {
    // A lost answer rejects with a TypeError, as `fetch` does, a hanging one with the abort reason.
    case 'lost':
      throw new TypeError('The identity provider closed the connection without an answer.')
    case 'hang':
      return waitForAbort(request)
    case 'cut-json':
      return buildJsonResponse(half)
    case 'cut-connection':
      return buildJsonResponse(breakAfter(half), 200, { 'Content-Length': String(bytes.length) })
    case 'html':
      return buildJsonResponse('<!doctype html><h1>Service temporarily busy</h1>', 200, { 'Content-Type': 'text/html' })
    case 'empty':
      return buildJsonResponse('')
    case 'wrong-content-type':
      return buildJsonResponse(json, 200, { 'Content-Type': 'text/plain' })
    case 'huge':
      return buildJsonResponse(Buffer.concat([bytes, Buffer.alloc(8 * 1_048_576, ' ')]))
    case 'drip':
      return buildJsonResponse(sendSlowly(bytes, request))
  }
}

/** A response as JSON, unless `headers` replace the type. */
export function buildJsonResponse(
  body: string | Uint8Array<ArrayBuffer> | AsyncIterable<Uint8Array>,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return new Response(body, { status, headers: { 'Content-Type': 'application/json', ...headers } })
}

/** Keeps hanging requests from garbage collection: the signal of a collected request would never abort. */
const hangingRequests = new Set<Request>()

function waitForAbort(request: Request): Promise<never> {
  const { signal } = request
  return new Promise((_, reject) => {
    const end = () => {
      hangingRequests.delete(request)
      reject(signal.reason as Error)
    }
    if (signal.aborted) return end()
    hangingRequests.add(request)
    signal.addEventListener('abort', end, { once: true })
  })
}

async function* breakAfter(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
  throw new TypeError('The identity provider closed the connection.')
}

async function* sendSlowly(bytes: Uint8Array, { signal }: Request): AsyncGenerator<Uint8Array> {
  for (const byte of bytes) {
    await setTimeout(dripMs)
    signal.throwIfAborted()
    yield Uint8Array.of(byte)
  }
}

/** Reads and changes the data of a running provider. An unknown id throws a RangeError. */
export type ProviderControl = ReturnType<typeof createProviderControl>

export function createProviderControl(state: ProviderState) {
  const redemptions: readonly Redemption[] = state.redemptions
  const getExisting = (applicantId: string): ApplicantRecord => {
    const applicant = state.applicants.get(applicantId)
    if (applicant === undefined || applicant.isDeleted)
      throw new RangeError(`There is no applicant ${applicantId}; pass the id of one that was added and not deleted.`)
    return applicant
  }
  return {
    /** Redeemed share tokens, oldest first. */
    redemptions,
    /** Adds an applicant without an event, such as a user whom the donor has already verified. */
    addApplicant: (applicant: NewApplicant): ApplicantView => toView(addApplicant(state, applicant)),
    /** Finds an applicant; null when it does not exist or is deleted. */
    applicant(applicantId: string): ApplicantView | null {
      const applicant = state.applicants.get(applicantId)
      return applicant === undefined || applicant.isDeleted ? null : toView(applicant)
    },
    /** All applicants of a client, oldest first. */
    applicants(clientId: string): ApplicantView[] {
      const { clientId: id } = requireClient(state, clientId)
      return [...state.applicants.values()].filter((each) => each.clientId === id && !each.isDeleted).map(toView)
    },
    /** Mints a share token for the donor, without a request. @throws RangeError When a request would be rejected. */
    mintShareToken(token: { applicantId: string; forClientId: string; ttlInSecs?: number | undefined }): string {
      const donor = requireClient(state, getExisting(token.applicantId).clientId)
      try {
        return mint(state, donor, (name) => token[name]).token
      } catch (error) {
        throw error instanceof ProviderRejection ? new RangeError(error.message) : error
      }
    },
    /** Completes the check with GREEN. */
    approve: (applicantId: string) => setVerdict(state, getExisting(applicantId), null),
    /** Completes the check with RED. */
    reject: (applicantId: string, rejection: Rejection = {}) => setVerdict(state, getExisting(applicantId), rejection),
    /** Moves the check to an intermediate state. */
    moveTo: (applicantId: string, status: IntermediateState) => setReviewState(state, getExisting(applicantId), status),
    /** Submits the missing documents of the level; then the check is pending. */
    handIn(applicantId: string) {
      const applicant = getExisting(applicantId)
      const required = findSteps(requireClient(state, applicant.clientId), applicant.levelName) ?? []
      applicant.steps = [...applicant.steps, ...findMissingSteps(required, applicant.steps)]
      setReviewState(state, applicant, 'pending')
    },
    /** Resets the check: `init`, without documents. */
    resetApplicant: (applicantId: string) => resetReview(state, getExisting(applicantId)),
    setActive(applicantId: string, isActive: boolean) {
      const applicant = getExisting(applicantId)
      applicant.isActive = isActive
      state.announce(applicant, isActive ? 'applicantActivated' : 'applicantDeactivated')
    },
    deleteApplicant(applicantId: string) {
      const applicant = getExisting(applicantId)
      state.announce(applicant, 'applicantDeleted')
      applicant.isDeleted = true
    },
    /** Emits any event of an applicant; `fields` replace fields of the body. */
    announce: (applicantId: string, type: string, fields?: Readonly<Record<string, unknown>>) =>
      state.announce(getExisting(applicantId), type, fields),
  }
}

function addApplicant(state: ProviderState, fields: NewApplicant): ApplicantRecord {
  const { clientId, as = 'approved' } = fields
  const client = requireClient(state, clientId)
  const levels = Object.keys(client.levels ?? defaultLevels)
  const { levelName = levels[0] ?? '' } = fields
  const required = findSteps(client, levelName)
  if (required === null)
    throw new RangeError(`The client ${clientId} has no level ${levelName}; it has ${levels.join(', ')}.`)
  const { externalUserId = `user-${state.newId()}`, steps = required } = fields
  const applicant = buildApplicant(state, { clientId, externalUserId, levelName })
  applicant.steps = [...steps]
  const silentState = { ...state, announce: () => undefined }
  if (as === 'pending') setReviewState(silentState, applicant, 'pending')
  if (as === 'approved') setVerdict(silentState, applicant, null)
  if (as === 'rejected') setVerdict(silentState, applicant, {})
  state.applicants.set(applicant.id, applicant)
  return applicant
}

/** The functions of an identity provider that the scenario `kyc` needs. */
export interface TriggerIdentity {
  /** Mints a share token of a new verified user. */
  mint(): string
  /** Sets the verdict of the verification for which a share token was redeemed. */
  decide(shareToken: string, verdict: TriggerVerdict): void
}

/**
 * Connects the scenario `kyc` to a local provider, as `identity` of `createSimulatedChains`.
 * @param clients - The donor's client id, and the service's.
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
      if (redemption === undefined)
        throw new RangeError('This share token was not redeemed; share it with the service first.')
      if (verdict === 'green') provider.approve(redemption.applicantId)
      else provider.reject(redemption.applicantId, { rejectType: verdict === 'red-final' ? 'FINAL' : 'RETRY' })
    },
  }
}
