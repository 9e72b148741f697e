/** Authenticates by app token, time and signature. Source: the provider's page on authentication. @module */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { Refusal } from './errors.js'
import type { ProviderClient } from './options.js'

/** A request as received. */
export interface ReceivedRequest {
  readonly method: string
  /** Path with query, byte for byte as sent. */
  readonly uri: string
  readonly header: (name: string) => string | null
  readonly body: Buffer
}

/** Largest distance of a request's time from the provider's clock, in seconds, on either side. */
const windowSeconds = 60

/**
 * The client that signed the request.
 * @throws Refusal 401 with 4000 to 4006, as the provider answers a failed authentication.
 */
export function authenticate(request: ReceivedRequest, clients: Iterable<ProviderClient>, now: number): ProviderClient {
  const appToken = request.header('x-app-token')
  const timestamp = request.header('x-app-access-ts')
  const signature = request.header('x-app-access-sig')
  if (appToken === null || timestamp === null || signature === null) throw new Refusal(401, 4006)
  if (!/^[\x21-\x7e]+$/.test(appToken)) throw new Refusal(401, 4000)
  const client = [...clients].find((each) => each.appToken === appToken)
  if (client === undefined) throw new Refusal(401, 4001)
  const isTimely =
    /^\d{1,15}$/.test(timestamp) && Math.abs(Number(timestamp) - Math.floor(now / 1_000)) <= windowSeconds
  if (!isTimely) throw new Refusal(401, 4004)
  const expected = createHmac('sha256', client.secretKey)
    .update(`${timestamp}${request.method}${request.uri}`)
    .update(request.body)
    .digest('hex')
  const given = Buffer.from(signature)
  if (given.length !== expected.length || !timingSafeEqual(given, Buffer.from(expected))) throw new Refusal(401, 4003)
  return client
}
