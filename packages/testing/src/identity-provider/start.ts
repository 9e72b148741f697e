/** Starts the identity provider on this machine: an HTTP server with a control for tests. @module */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { readBytes } from '../read-bytes.js'
import { authenticate, type ReceivedRequest } from './authenticate.js'
import { createControl, type ProviderControl } from './control.js'
import { Refusal, refusalBody } from './errors.js'
import { answerFaultily, createFaults, type ProviderFault, type ProviderOperation } from './faults.js'
import { type IdentityProviderOptions, identityProviderDefaults, type WebhookTarget } from './options.js'
import { createRateLimits } from './rate-limits.js'
import type { AnnounceEvent } from './reviews.js'
import { findRoute } from './routes.js'
import { clientOf, type ProviderState } from './state.js'
import { createWebhooks, type WebhookDelivery, type WebhookRun } from './webhooks.js'

/** One request, answered or not. Tokens and queries are not recorded. */
export interface RequestRecord {
  /** Null for an unknown path. */
  readonly operation: ProviderOperation | null
  readonly method: string
  readonly path: string
  /**
   * The provider's own status, before a fault changed the answer; null when a fault prevented the execution.
   */
  readonly status: number | null
}

/** A running provider. */
export interface TestIdentityProvider extends ProviderControl {
  /** The `baseUrl` of a client, such as `http://127.0.0.1:40123`. */
  readonly url: string
  /** Every request so far, oldest first. */
  readonly requests: readonly RequestRecord[]
  /** Every sent webhook, oldest first. */
  readonly webhooks: readonly WebhookDelivery[]
  /** Makes the next requests of one kind fail. */
  fail(fault: ProviderFault): void
  /** Drops the queued faults. */
  clearFaults(): void
  /**
   * Replaces the targets of a client's options. Webhooks that already wait keep their target.
   */
  setWebhooks(clientId: string, targets: readonly WebhookTarget[]): void
  /** Sends the webhooks that are due by the clock, one at a time. */
  deliverWebhooks(run?: WebhookRun): Promise<WebhookDelivery[]>
  /** Drops every waiting webhook; resolves their number. */
  loseWebhooks(): number
  /** Closes every connection, even hanging ones, and stops. */
  close(): Promise<void>
}

/**
 * Starts the provider on loopback.
 * @throws TypeError When two clients share an id or an app token, or one lacks a credential.
 * @example const provider = await startIdentityProvider({ clients: [donor, service] })
 */
export async function startIdentityProvider(options: IdentityProviderOptions): Promise<TestIdentityProvider> {
  const { port, rateLimits, showsReview, sendsWebhooks, webhookTimeoutMs } = withDefaults(options)
  const { approvesAfterMs } = options
  const { now = Date.now, newId = () => randomBytes(12).toString('hex') } = options
  const state: ProviderState = {
    clients: new Map(checkClients(options).map((client) => [client.clientId, client])),
    applicants: new Map(),
    shareTokens: new Map(),
    redemptions: [],
    now,
    newId,
  }
  const webhooks = createWebhooks({ now, newId, timeoutMs: webhookTimeoutMs })
  const targets = new Map(options.clients.map(({ clientId, webhooks: wanted = [] }) => [clientId, wanted]))
  const faults = createFaults()
  const countRequest = createRateLimits()
  const requests: RequestRecord[] = []
  let timer: NodeJS.Timeout | undefined
  const approvals = new Set<NodeJS.Timeout>()

  const announce: AnnounceEvent = (applicant, type, fields = {}) => {
    const { clientId, appToken } = clientOf(state, applicant.clientId)
    webhooks.make(targets.get(clientId) ?? [], applicant, type, appToken.startsWith('sbx:'), fields)
    if (sendsWebhooks) sendWhenDue()
    if (approvesAfterMs !== undefined && type === 'applicantPending') approveAfter(approvesAfterMs, applicant.id)
  }

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
    if (at === null) return
    timer = setTimeout(() => void webhooks.deliver().then(sendWhenDue), Math.max(0, at - now()))
    timer.unref()
  }

  function answer(request: ReceivedRequest, found: ReturnType<typeof findRoute>): Record<string, unknown> {
    if (rateLimits) countRequest(request.header('x-app-token') ?? '', request.method, now())
    const client = authenticate(request, state.clients.values(), now())
    if (found === null) throw new Refusal(404, 'Not found')
    if (found.isWrongMethod) throw new Refusal(405, 'Method not allowed')
    const query = new URLSearchParams(request.uri.split('?')[1] ?? '')
    const { route, subject } = found
    return route.answer({ state, client, query, body: request.body, subject, announce, showsReview })
  }

  async function serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const request = await receive(incoming)
    const path = request.uri.split('?')[0] ?? ''
    const found = findRoute(request.method, path)
    const operation = found?.route.operation ?? null
    const fault = operation === null ? null : faults.take(operation)
    const correlationId = `req-${newId()}`
    if (fault?.at === 'before') {
      requests.push({ operation, method: request.method, path, status: null })
      answerFaultily(response, fault, '{}', correlationId)
      return
    }
    const { status, json } = outcomeOf(() => answer(request, found), correlationId)
    requests.push({ operation, method: request.method, path, status })
    if (fault !== null) answerFaultily(response, fault, JSON.stringify(json), correlationId)
    else response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(json))
  }

  const control = createControl(state, announce)
  const server = createServer((incoming, response) => {
    serve(incoming, response).catch(() => response.destroy())
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const { port: boundPort } = server.address() as AddressInfo
  return {
    ...control,
    url: `http://127.0.0.1:${boundPort}`,
    requests,
    webhooks: webhooks.sent,
    fail: faults.add,
    clearFaults: faults.clear,
    setWebhooks: (clientId, wanted) => void targets.set(clientOf(state, clientId).clientId, wanted),
    deliverWebhooks: webhooks.deliver,
    loseWebhooks: webhooks.lose,
    async close() {
      clearTimeout(timer)
      for (const approval of approvals) clearTimeout(approval)
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

function outcomeOf(
  work: () => Record<string, unknown>,
  correlationId: string,
): { readonly status: number; readonly json: Record<string, unknown> } {
  try {
    return { status: 200, json: work() }
  } catch (error) {
    const refusal = error instanceof Refusal ? error : new Refusal(500, 'Internal server error')
    return { status: refusal.status, json: refusalBody(refusal, correlationId) }
  }
}

async function receive(incoming: IncomingMessage): Promise<ReceivedRequest> {
  const body = await readBytes(incoming)
  const header = (name: string) => {
    const value = incoming.headers[name]
    return typeof value === 'string' ? value : null
  }
  return { method: incoming.method ?? '', uri: incoming.url ?? '', header, body }
}

function withDefaults(options: IdentityProviderOptions) {
  const {
    port = identityProviderDefaults.port,
    rateLimits = identityProviderDefaults.rateLimits,
    showsReview = identityProviderDefaults.showsReview,
    sendsWebhooks = identityProviderDefaults.sendsWebhooks,
    webhookTimeoutMs = identityProviderDefaults.webhookTimeoutMs,
  } = options
  return { port, rateLimits, showsReview, sendsWebhooks, webhookTimeoutMs }
}

function checkClients({ clients }: IdentityProviderOptions): IdentityProviderOptions['clients'] {
  for (const { clientId, appToken, secretKey } of clients)
    if (!(clientId && appToken && secretKey))
      throw new TypeError('A client of the identity provider lacks its clientId, appToken or secretKey.')
  if (new Set(clients.map(({ clientId }) => clientId)).size < clients.length)
    throw new TypeError('Two clients of the identity provider have the same clientId.')
  if (new Set(clients.map(({ appToken }) => appToken)).size < clients.length)
    throw new TypeError('Two clients of the identity provider have the same appToken.')
  return clients
}
