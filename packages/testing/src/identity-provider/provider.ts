/** Runs the identity provider as a function or on a port, with a control. @module */
import { randomBytes } from 'node:crypto'
import { serve, toRequest } from '../serve.js'
import type { ProviderState } from './applicants.js'
import { findApplicant, requireApplicant, requireClient, toApplicantJson, toReviewJson } from './applicants.js'
import {
  authenticate,
  createRateLimits,
  type IdentityProviderOptions,
  type ProviderClient,
  ProviderRejection,
  type ReceivedRequest,
  toRejectionBody,
  type WebhookTarget,
} from './authenticate.js'
import type { ProviderControl, ProviderFault, ProviderOperation } from './control.js'
import { createControl, createFaults, faultyResponse, jsonResponse } from './control.js'
import { copy, mint, reuse } from './redeem.js'
import { createWebhooks, type WebhookDelivery } from './webhooks.js'

interface AuthenticRequest {
  readonly state: ProviderState
  readonly client: ProviderClient
  readonly query: URLSearchParams
  readonly body: Buffer
  /** The variable part of the path, decoded. */
  readonly subject: string
  readonly showsReview: boolean
}

interface Route {
  readonly method: 'GET' | 'POST'
  readonly path: RegExp
  readonly operation: ProviderOperation
  readonly answer: (request: AuthenticRequest) => Record<string, unknown>
}

const routes: readonly Route[] = [
  {
    method: 'POST',
    path: /^\/resources\/accessTokens\/(?:-\/)?shareToken$/,
    operation: 'mint',
    answer({ state, client, query, body }) {
      const fields = body.length === 0 ? null : parseObject(body)
      const { token, forClientId } = mint(state, client, (name) => fields?.[name] ?? query.get(name))
      return { token, forClientId }
    },
  },
  {
    method: 'POST',
    path: /^\/resources\/api\/reusableIdentity\/reuse$/,
    operation: 'reuse',
    answer: ({ state, client, query, showsReview }) =>
      toApplicantJson(reuse(state, client, query), state.now(), showsReview),
  },
  {
    method: 'POST',
    path: /^\/resources\/applicants\/-\/import$/,
    operation: 'import',
    answer: ({ state, client, query, showsReview }) =>
      toApplicantJson(copy(state, client, query), state.now(), showsReview),
  },
  {
    method: 'GET',
    path: /^\/resources\/applicants\/-;externalUserId=([^/;]*)\/one$/,
    operation: 'find',
    answer({ state, client, subject }) {
      const applicant = findApplicant(state, client, subject)
      if (applicant === undefined) throw new ProviderRejection(404, 'Applicant not found')
      return toApplicantJson(applicant, state.now())
    },
  },
  {
    method: 'GET',
    path: /^\/resources\/applicants\/([^/;]+)\/status$/,
    operation: 'status',
    answer: ({ state, client, subject }) => toReviewJson(requireApplicant(state, client, subject), state.now()),
  },
]

/** The route of a request with its subject; `isWrongMethod` when the path exists only with other methods. */
export function findRoute(method: string, path: string) {
  for (const route of routes) {
    const match = route.path.exec(path)
    if (match !== null) return { route, subject: decode(match[1] ?? ''), isWrongMethod: route.method !== method }
  }
  return null
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return ''
  }
}

function parseObject(body: Buffer): Readonly<Record<string, unknown>> {
  try {
    const json: unknown = JSON.parse(body.toString('utf8'))
    if (typeof json === 'object' && json !== null && !Array.isArray(json)) return { ...json }
  } catch {
    // Malformed JSON gets the same answer as a body that is not an object.
  }
  throw new ProviderRejection(400, 'Malformed JSON')
}

/** One request, answered or not. Tokens and queries are not recorded. */
export interface RequestRecord {
  /** Null for an unknown path. */
  readonly operation: ProviderOperation | null
  readonly method: string
  readonly path: string
  /** The provider's own status, before a fault changed the answer; null when a fault prevented the execution. */
  readonly status: number | null
}

/** The control of a provider, in the process or on a port. */
export interface IdentityProviderControl extends ProviderControl {
  /** Every request so far, oldest first. */
  readonly requests: readonly RequestRecord[]
  /** Every sent webhook, oldest first. */
  readonly webhooks: readonly WebhookDelivery[]
  /** Makes the next requests of one kind fail. */
  fail(fault: ProviderFault): void
  /** Drops the queued faults. */
  clearFaults(): void
  /** Replaces the webhook targets of a client. Webhooks that already wait keep their target. */
  setWebhooks(clientId: string, targets: readonly WebhookTarget[]): void
  /** Sends the webhooks that are due, one at a time. */
  deliverWebhooks(): Promise<WebhookDelivery[]>
  /** Drops every waiting webhook; returns their number. */
  loseWebhooks(): number
  /** Unix milliseconds at which the next webhook is due; null: none waits. */
  nextWebhookAt(): number | null
}

/** A provider in the process of a test. */
export interface LocalIdentityProvider extends IdentityProviderControl {
  /** Answers a request to the provider's API, on any origin. Some faults make the promise reject. */
  readonly fetch: (input: string | URL | Request, init?: RequestInit) => Promise<Response>
  /** Stops the provider's timers. */
  close(): void
}

/**
 * Creates a provider in the process, without a port.
 * @throws TypeError When two clients share an id or an app token, or one lacks a credential.
 * @example const provider = createIdentityProvider({ clients: [donor, service] })
 */
export function createIdentityProvider(options: Omit<IdentityProviderOptions, 'port'>): LocalIdentityProvider {
  const { answer, ...provider } = openProvider(options)
  return { ...provider, fetch: (input, init) => answer(toRequest(input, init)) }
}

/** Creates a provider. @returns The control, and `answer`, whose `uri` is path and query, byte for byte as signed. */
function openProvider(options: IdentityProviderOptions) {
  const { rateLimits = false, showsReview = true, sendsWebhooks = false, webhookTimeoutMs = 5_000 } = options
  const { approvesAfterMs, sendWebhook: send = (request) => fetch(request) } = options
  const { now = Date.now, newId = () => randomBytes(12).toString('hex') } = options
  const state: ProviderState = {
    clients: new Map(checkClients(options).map((client) => [client.clientId, client])),
    applicants: new Map(),
    shareTokens: new Map(),
    redemptions: [],
    now,
    newId,
    announce(applicant, type, fields = {}) {
      const { clientId, appToken } = requireClient(state, applicant.clientId)
      webhooks.make(targets.get(clientId) ?? [], applicant, type, appToken.startsWith('sbx:'), fields)
      if (sendsWebhooks) sendWhenDue()
      if (approvesAfterMs !== undefined && type === 'applicantPending') approveAfter(approvesAfterMs, applicant.id)
    },
  }
  const webhooks = createWebhooks({ now, newId, timeoutMs: webhookTimeoutMs, send })
  const targets = new Map(options.clients.map(({ clientId, webhooks: targetList = [] }) => [clientId, targetList]))
  const faults = createFaults()
  const countRequest = createRateLimits()
  const requests: RequestRecord[] = []
  let timer: NodeJS.Timeout | undefined
  let isClosed = false
  const approvals = new Set<NodeJS.Timeout>()

  function approveAfter(ms: number, applicantId: string): void {
    const approval = setTimeout(() => {
      approvals.delete(approval)
      // A test may have set another verdict or deleted the applicant.
      if (control.applicant(applicantId)?.reviewStatus === 'pending') control.approve(applicantId)
    }, ms)
    approvals.add(approval.unref())
  }

  function sendWhenDue(): void {
    clearTimeout(timer)
    const at = webhooks.nextAt()
    if (at === null || isClosed) return
    timer = setTimeout(() => void deliverWebhooks(), Math.max(0, at - now()))
    timer.unref()
  }

  async function deliverWebhooks(): Promise<WebhookDelivery[]> {
    const deliveries = await webhooks.deliver()
    if (sendsWebhooks) sendWhenDue()
    return deliveries
  }

  /** @throws ProviderRejection When the provider answers another status than 200. */
  function execute(request: ReceivedRequest, found: ReturnType<typeof findRoute>): Record<string, unknown> {
    if (rateLimits) countRequest(request.header('x-app-token') ?? '', request.method, now())
    const client = authenticate(request, state.clients.values(), now())
    if (found === null) throw new ProviderRejection(404, 'Not found')
    if (found.isWrongMethod) throw new ProviderRejection(405, 'Method not allowed')
    const query = new URLSearchParams(request.uri.split('?')[1] ?? '')
    const { route, subject } = found
    return route.answer({ state, client, query, body: request.body, subject, showsReview })
  }

  async function answer(incoming: Request, uri?: string): Promise<Response> {
    const request = await receive(incoming, uri)
    const path = request.uri.split('?')[0] ?? ''
    const match = findRoute(request.method, path)
    const operation = match?.route.operation ?? null
    const fault = operation === null ? null : faults.take(operation)
    const faulty = { correlationId: `req-${newId()}`, request: incoming }
    if (fault?.at === 'before') {
      requests.push({ operation, method: request.method, path, status: null })
      return faultyResponse(fault, '{}', faulty)
    }
    const { status, json } = runRequest(() => execute(request, match), faulty.correlationId)
    requests.push({ operation, method: request.method, path, status })
    return fault === null ? jsonResponse(json, status) : faultyResponse(fault, json, faulty)
  }

  const control = createControl(state)
  return {
    ...control,
    answer,
    requests,
    webhooks: webhooks.sent,
    fail: faults.add,
    clearFaults: faults.clear,
    setWebhooks: (clientId: string, targetList: readonly WebhookTarget[]) =>
      void targets.set(requireClient(state, clientId).clientId, targetList),
    deliverWebhooks,
    loseWebhooks: webhooks.lose,
    nextWebhookAt: webhooks.nextAt,
    close() {
      isClosed = true
      clearTimeout(timer)
      for (const approval of approvals) clearTimeout(approval)
    },
  }
}

function runRequest(work: () => Record<string, unknown>, correlationId: string) {
  try {
    return { status: 200, json: JSON.stringify(work()) }
  } catch (error) {
    const rejected = error instanceof ProviderRejection ? error : new ProviderRejection(500, 'Internal server error')
    return { status: rejected.status, json: JSON.stringify(toRejectionBody(rejected, correlationId)) }
  }
}

async function receive(request: Request, uri?: string): Promise<ReceivedRequest> {
  const { method, headers, url } = request
  const { pathname, search } = new URL(url)
  const body = Buffer.from(await request.arrayBuffer())
  return { method, uri: uri ?? `${pathname}${search}`, header: (name) => headers.get(name), body }
}

function checkClients({ clients }: IdentityProviderOptions): IdentityProviderOptions['clients'] {
  for (const client of clients)
    for (const key of ['clientId', 'appToken', 'secretKey'] as const)
      if (!client[key]) throw new TypeError(`A client of the identity provider has no ${key}; set it.`)
  for (const key of ['clientId', 'appToken'] as const)
    if (new Set(clients.map((client) => client[key])).size < clients.length)
      throw new TypeError(`Two clients of the identity provider have the same ${key}; give each its own.`)
  return clients
}

/** A running provider. */
export interface TestIdentityProvider extends IdentityProviderControl {
  /** The `baseUrl` of a client, such as `http://127.0.0.1:40123`. */
  readonly url: string
  /** Closes every connection, even hanging ones, and stops. */
  close(): Promise<void>
}

/**
 * Starts the provider on loopback.
 * @throws TypeError When two clients share an id or an app token, or one lacks a credential.
 * @example const provider = await startIdentityProvider({ clients: [donor, service] })
 */
export async function startIdentityProvider(options: IdentityProviderOptions): Promise<TestIdentityProvider> {
  const { answer, ...provider } = openProvider(options)
  const { url, close } = await serve(answer, options.port ?? 0)
  return {
    ...provider,
    url,
    async close() {
      provider.close()
      await close()
    },
  }
}
