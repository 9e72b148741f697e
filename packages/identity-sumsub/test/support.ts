/** Fixtures of the adapter: a local provider with a donor and a service, and servers with any answer. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createFakeClock } from '@payment-integration/testing'
import type { IdentityProviderOptions, TestIdentityProvider } from '@payment-integration/testing/identity-provider'
import { startIdentityProvider } from '@payment-integration/testing/identity-provider'
import { onTestFinished } from 'vitest'
import type { ProviderConnection } from '../src/exports/index.js'
import { createSumsubClient, type SumsubClientOptions } from '../src/exports/service.js'

export const donor = {
  clientId: 'DonorCo',
  appToken: 'sbx:donor.canary-app-token-3b1f',
  secretKey: 'canary-secret-key-of-the-donor-77aa',
  levels: { full: ['IDENTITY', 'SELFIE', 'PROOF_OF_RESIDENCE'] },
  partners: ['ServiceCo'],
} as const

export const service = {
  clientId: 'ServiceCo',
  appToken: 'sbx:service.canary-app-token-9d2c',
  secretKey: 'canary-secret-key-of-the-service-51ee',
  levels: { basic: ['IDENTITY', 'SELFIE'], strict: ['IDENTITY', 'PROOF_OF_FUNDS'], other: ['QUESTIONNAIRE'] },
  partners: ['DonorCo'],
} as const

/** The time limit of a call: short only for endless answers, because the others must not hit it on a busy machine. */
export const timeoutFor = (answer: unknown) => (answer === 'hang' || answer === 'drip' ? 300 : 600_000)

/** No answer comes too late because the machine is slow, in milliseconds. */
const patience = 600_000

/** A local provider on a clock that only the test moves, with the connections of both sides. */
export async function started(options: Partial<IdentityProviderOptions> = {}) {
  const clock = createFakeClock(Date.UTC(2026, 0, 1))
  const local = await startIdentityProvider({ clients: [donor, service], clock, ...options })
  onTestFinished(() => local.close())
  const shared = { baseUrl: local.url, clock, timeoutMs: patience }
  const connection = (by: typeof donor | typeof service): ProviderConnection => ({
    ...{ appToken: by.appToken, secretKey: by.secretKey, ...shared },
  })
  const provider = (more: Partial<SumsubClientOptions> = {}) =>
    createSumsubClient({ ...connection(service), levelName: 'basic', ...more })
  return { local, clock, connection, provider }
}

/** A share token of a new donor applicant. */
export function newToken(local: TestIdentityProvider, ttlInSecs?: number): string {
  const { id } = local.addApplicant({ clientId: 'DonorCo' })
  return local.mintShareToken({ applicantId: id, forClientId: 'ServiceCo', ttlInSecs })
}

/** A server on loopback with the given answer. */
export async function serve(answer: (request: IncomingMessage, response: ServerResponse, body: Buffer) => void) {
  const requests: string[] = []
  const server = createServer(async (request, response) => {
    requests.push(`${request.method} ${request.url}`)
    answer(request, response, Buffer.concat(await request.toArray()))
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests }
}

/** A server that always answers this status and body. A body that is not text is sent as JSON. */
export function answering(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}) {
  return serve((_, response) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(text)
  })
}

/** The calls against a server that always answers this. */
export async function providerAnswering(status: number, body: unknown, headers?: Readonly<Record<string, string>>) {
  const { baseUrl, requests } = await answering(status, body, headers)
  const { appToken, secretKey } = service
  const provider = createSumsubClient({ appToken, secretKey, levelName: 'basic', baseUrl, timeoutMs: patience })
  return { ...provider, requests }
}

/** The error that a call rejects with. */
export async function catchError(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    (value) => {
      throw new Error(`expected an error, got ${JSON.stringify(value)}`)
    },
    (error: unknown) => error,
  )
}
