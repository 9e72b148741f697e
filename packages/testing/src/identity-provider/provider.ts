/** Runs the identity provider as a function or on a port, with a control. @module */
import { randomBytes } from 'node:crypto'
import { serve, toRequest } from '../serve.js'
import type { ProviderState } from './applicants.js'
import { findApplicant, requireApplicant, requireClient, toApplicantJson, toReviewJson } from './applicants.js'
import {
  authenticate,
  buildErrorBody,
  createRateLimiter,
  type IdentityProviderOptions,
  type ProviderClient,
  ProviderRejection,
  type ReceivedRequest,
  type WebhookTarget,
} from './authenticate.js'
import type { ProviderFault, ProviderOperation } from './control.js'
import { buildFaultyResponse, buildJsonResponse, createFaultQueue, createProviderControl } from './control.js'
import { mint, redeemByCopy, redeemByReuse } from './redeem.js'
import { createWebhookQueue, type WebhookDelivery } from './webhooks.js'

interface AuthenticRequest {
  readonly state: ProviderState
  readonly client: ProviderClient
  readonly query: URLSearchParams
  readonly body: Buffer
  /** The variable part of the path, decoded. */
  readonly pathParameter: string
  readonly showsReview: boolean
}

interface Route {
  readonly method: 'GET' | 'POST'
  readonly path: RegExp
  readonly operation: ProviderOperation
  /** Executes the request. @returns The JSON of the answer. */
  readonly execute: (request: AuthenticRequest) => Record<string, unknown>
}

const routes: readonly Route[] = [
  {
    method: 'POST',
    path: /^\/resources\/accessTokens\/(?:-\/)?shareToken$/,
    operation: 'mint',
    execute({ state, client, query, body }) {
      const fields = body.length === 0 ? {} : parseObject(body)
      const { token, forClientId } = mint(state, client, (name) => fields[name] ?? query.get(name))
      return { token, forClientId }
    },
  },
  {
    method: 'POST',
    path: /^\/resources\/api\/reusableIdentity\/reuse$/,
    operation: 'reuse',
    execute: ({ state, client, query, showsReview }) =>
      toApplicantJson(redeemByReuse(state, client, query), state.clock.now(), showsReview),
  },
  {
    method: 'POST',
    path: /^\/resources\/applicants\/-\/import$/,
    operation: 'import',
    execute: ({ state, client, query, showsReview }) =>
      toApplicantJson(redeemByCopy(state, client, query), state.clock.now(), showsReview),
  },
  {
    method: 'GET',
    path: /^\/resources\/applicants\/-;externalUserId=([^/;]*)\/one$/,
    operation: 'find',
    execute({ state, client, pathParameter }) {
      const applicant = findApplicant(state, client, pathParameter)
      if (applicant === undefined) throw new ProviderRejection(404, 'Applicant not found')
      return toApplicantJson(applicant, state.clock.now())
    },
  },
  {
    method: 'GET',
    path: /^\/resources\/applicants\/([^/;]+)\/status$/,
    operation: 'status',
    execute: ({ state, client, pathParameter }) =>
      toReviewJson(requireApplicant(state, client, pathParameter), state.clock.now()),
  },
]

/** The route of a path with its parameter; `isWrongMethod` when the path exists only with other methods. */
export function findRoute(method: string, path: string) {
  for (const route of routes) {
    const [match, parameter = ''] = route.path.exec(path) ?? []
    if (match !== undefined)
      return { route, pathParameter: decodeParameter(parameter), isWrongMethod: route.method !== method }
  }
  return null
}

function decodeParameter(text: string): string {
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
type IdentityProviderControl = Readonly<ReturnType<typeof createProvider>['control']>

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
 * @example
 * import { createIdentityProvider } from '@payment-integration/testing/identity-provider'
 * const clients = [{ clientId: 'Pay', appToken: 'sbx:pay', secretKey: 'test' }]
 * const { fetch } = createIdentityProvider({ clients })
 */
export function createIdentityProvider(options: Omit<IdentityProviderOptions, 'port'>): LocalIdentityProvider {
  const { control, answer, close } = createProvider(options)
  return { ...control, fetch: (input, init) => answer(toRequest(input, init)), close }
}

/** Creates a provider. The `uri` of `answer` is path and query, byte for byte as signed; `close` stops the timers. */
function createProvider(options: IdentityProviderOptions) {
  const { rateLimits = false, showsReview = true, sendsWebhooks = false, webhookTimeoutMs = 5_000 } = options
  const { approvesAfterMs, sendWebhook: send = (request) => fetch(request) } = options
  const { clock = Date, newId = () => randomBytes(12).toString('hex') } = options
  const clients = new Map(checkClients(options).map((client) => [client.clientId, client]))
  const targets = new Map(options.clients.map(({ clientId, webhooks: targetList = [] }) => [clientId, targetList]))
  const webhooks = createWebhookQueue({ clock, newId, send, timeoutMs: webhookTimeoutMs, isAutomatic: sendsWebhooks })
  const state: ProviderState = {
    clients,
    applicants: new Map(),
    shareTokens: new Map(),
    redemptions: [],
    clock,
    newId,
    announce(applicant, type, fields = {}) {
      const { clientId, appToken } = requireClient(state, applicant.clientId)
      webhooks.enqueue(targets.get(clientId) ?? [], applicant, type, appToken.startsWith('sbx:'), fields)
      if (approvesAfterMs !== undefined && type === 'applicantPending') approveAfter(approvesAfterMs, applicant.id)
    },
  }
  const faults = createFaultQueue<ProviderFault>()
  const countRequest = createRateLimiter()
  const requests: RequestRecord[] = []
  const approvalTimers = new Set<NodeJS.Timeout>()
  const control = {
    ...createProviderControl(state),
    /** Every request so far, oldest first. */
    requests: requests as readonly RequestRecord[],
    /** Every sent webhook, oldest first. */
    webhooks: webhooks.sent as readonly WebhookDelivery[],
    /** Makes the next requests of one kind fail. */
    fail: faults.add,
    /** Drops the queued faults. */
    clearFaults: faults.clear,
    /** Replaces the webhook targets of a client. Webhooks that already wait keep their target. */
    setWebhooks(clientId: string, targetList: readonly WebhookTarget[]): void {
      targets.set(requireClient(state, clientId).clientId, targetList)
    },
    /** Sends the webhooks that are due, one at a time. */
    deliverWebhooks: webhooks.sendDue,
    /** Drops every webhook, waiting or in flight; returns their number. */
    loseWebhooks: webhooks.dropAll,
    /** Unix milliseconds at which the next webhook is due; null: none waits. */
    nextWebhookAt: webhooks.getNextDueAt,
  }

  function approveAfter(ms: number, applicantId: string): void {
    const timer = setTimeout(() => {
      approvalTimers.delete(timer)
      // A test may have set another verdict or deleted the applicant.
      if (control.applicant(applicantId)?.reviewStatus === 'pending') control.approve(applicantId)
    }, ms)
    approvalTimers.add(timer.unref())
  }

  /** @throws ProviderRejection When the provider answers another status than 200. */
  function execute(request: ReceivedRequest, match: ReturnType<typeof findRoute>): Record<string, unknown> {
    if (rateLimits) countRequest(request.header('x-app-token') ?? '', request.method, clock.now())
    const client = authenticate(request, clients.values(), clock.now())
    if (match === null) throw new ProviderRejection(404, 'Not found')
    if (match.isWrongMethod) throw new ProviderRejection(405, 'Method not allowed')
    const query = new URLSearchParams(request.uri.split('?')[1] ?? '')
    const { route, pathParameter } = match
    return route.execute({ state, client, query, body: request.body, pathParameter, showsReview })
  }

  async function answer(incoming: Request, uri?: string): Promise<Response> {
    const request = await readRequest(incoming, uri)
    const { method } = request
    const path = request.uri.split('?')[0] ?? ''
    const match = findRoute(method, path)
    const operation = match?.route.operation ?? null
    const fault = faults.take(({ on }) => on === operation)
    const exchange = { correlationId: `req-${newId()}`, request: incoming }
    if (fault?.at === 'before') {
      requests.push({ operation, method, path, status: null })
      return buildFaultyResponse(fault, '{}', exchange)
    }
    const { status, json } = runRequest(() => execute(request, match), exchange.correlationId)
    requests.push({ operation, method, path, status })
    return fault === null ? buildJsonResponse(json, status) : buildFaultyResponse(fault, json, exchange)
  }

  function close(): void {
    webhooks.close()
    for (const timer of approvalTimers) clearTimeout(timer)
  }

  return { control, answer, close }
}

function runRequest(execute: () => Record<string, unknown>, correlationId: string) {
  try {
    return { status: 200, json: JSON.stringify(execute()) }
  } catch (error) {
    const rejection = error instanceof ProviderRejection ? error : new ProviderRejection(500, 'Internal server error')
    return { status: rejection.status, json: JSON.stringify(buildErrorBody(rejection, correlationId)) }
  }
}

async function readRequest(request: Request, uri?: string): Promise<ReceivedRequest> {
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
 * @example
 * import { startIdentityProvider } from '@payment-integration/testing/identity-provider'
 * const clients = [{ clientId: 'Pay', appToken: 'sbx:pay', secretKey: 'test' }]
 * const { url, close } = await startIdentityProvider({ clients, port: 4001 })
 */
export async function startIdentityProvider(options: IdentityProviderOptions): Promise<TestIdentityProvider> {
  const { control, answer, close: stopTimers } = createProvider(options)
  const { url, close: stopServer } = await serve(answer, options.port ?? 0)
  return {
    ...control,
    url,
    async close() {
      stopTimers()
      await stopServer()
    },
  }
}
