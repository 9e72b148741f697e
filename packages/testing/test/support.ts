/** Fixtures of the provider: two clients, a movable clock, signed requests, and a receiver of webhooks. */
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server as HttpServer } from 'node:http'
import type { AddressInfo, Server } from 'node:net'
import { onTestFinished } from 'vitest'
import { createFakeClock } from '../src/builders.js'
import type { IdentityProviderOptions, TestIdentityProvider } from '../src/exports/identity-provider.js'
import { startIdentityProvider } from '../src/exports/identity-provider.js'
import type { ProviderClient } from '../src/identity-provider/authenticate.js'

export const donor = {
  clientId: 'DonorCo',
  appToken: 'sbx:donor.token',
  secretKey: 'secret-of-the-donor',
  levels: { full: ['IDENTITY', 'SELFIE', 'PROOF_OF_RESIDENCE'] },
  partners: ['ServiceCo'],
} as const satisfies ProviderClient

export const service = {
  clientId: 'ServiceCo',
  appToken: 'sbx:service.token',
  secretKey: 'secret-of-the-service',
  levels: { basic: ['IDENTITY', 'SELFIE'], strict: ['IDENTITY', 'PROOF_OF_FUNDS'], other: ['QUESTIONNAIRE'] },
  partners: ['DonorCo'],
} as const satisfies ProviderClient

/** A provider with both clients, counted ids and a movable clock, closed after the test. */
export async function started(options: Partial<IdentityProviderOptions> = {}) {
  const clock = createFakeClock(Date.UTC(2026, 0, 1))
  let next = 0
  const newId = () => (next++).toString(16).padStart(24, '0')
  const provider = await startIdentityProvider({ clients: [donor, service], clock, newId, ...options })
  onTestFinished(() => provider.close())
  return { provider, clock, ask: asking(provider, options.clock ?? clock) }
}

/** A request by hand. */
export interface Request {
  readonly method?: 'GET' | 'POST' | 'PUT'
  readonly uri: string
  readonly body?: string | Uint8Array<ArrayBuffer>
  readonly by?: Pick<ProviderClient, 'appToken' | 'secretKey'>
  /** Replaces headers; null removes one. */
  readonly headers?: Readonly<Record<string, string | null>>
}

export interface Answer {
  readonly status: number
  readonly json: Readonly<Record<string, unknown>>
}

/** Sends requests to a provider, signed by its documentation. */
export function asking(provider: TestIdentityProvider, clock: { now(): number }) {
  return async ({ method = 'POST', uri, body, by = service, headers = {} }: Request): Promise<Answer> => {
    const timestamp = String(Math.floor(clock.now() / 1_000))
    const signature = createHmac('sha256', by.secretKey)
      .update(`${timestamp}${method}${uri}`)
      .update(body ?? '')
      .digest('hex')
    const all: Record<string, string | null> = {
      'Content-Type': 'application/json',
      'X-App-Token': by.appToken,
      'X-App-Access-Ts': timestamp,
      'X-App-Access-Sig': signature,
      ...headers,
    }
    const sent = Object.entries(all).filter((header): header is [string, string] => header[1] !== null)
    const response = await fetch(`${provider.url}${uri}`, { method, headers: sent, ...(body ? { body } : {}) })
    return { status: response.status, json: (await response.json()) as Answer['json'] }
  }
}

/** The path that redeems a token by reuse. */
export function reuseUri(shareToken: string, { level = 'basic', userId = 'pi:1' } = {}): string {
  return `/resources/api/reusableIdentity/reuse?${new URLSearchParams({ shareToken, levelName: level, userId })}`
}

/** A token of a new approved donor applicant. */
export function newToken(provider: TestIdentityProvider, ttlInSecs?: number): string {
  const { id } = provider.addApplicant({ clientId: 'DonorCo' })
  return provider.mintShareToken({ applicantId: id, forClientId: 'ServiceCo', ttlInSecs })
}

/** Lets a server listen on a free loopback port until the test ends. Resolves the port. */
export async function listen(server: Server | HttpServer): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => {
    server.close()
    if ('closeAllConnections' in server) server.closeAllConnections()
  })
  return (server.address() as AddressInfo).port
}

/** A closed port on loopback. */
export async function deadUrl(): Promise<string> {
  const server = createServer()
  const port = await listen(server)
  await new Promise((closed) => server.close(closed))
  return `http://127.0.0.1:${port}/`
}

/** A received webhook. */
export interface Arrived {
  readonly body: Buffer
  readonly digest: string | undefined
  readonly algorithm: string | undefined
  readonly event: Readonly<Record<string, unknown>>
}

/** A receiver of webhooks that answers these statuses in turn, then always the last. */
export async function receiver(...statuses: readonly number[]) {
  const arrived: Arrived[] = []
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray())
    response.writeHead(statuses[arrived.length] ?? statuses.at(-1) ?? 200).end()
    const header = (name: string) => request.headers[name] as string | undefined
    const event = JSON.parse(body.toString()) as Arrived['event']
    arrived.push({ body, digest: header('x-payload-digest'), algorithm: header('x-payload-digest-alg'), event })
  })
  return { url: `http://127.0.0.1:${await listen(server)}/hook`, arrived }
}
