/** The twin of the service behind msw handlers. @module */
import { parseUrl } from '@payment-integration/contract'
import { type HttpHandler, http } from 'msw'
import { createTwin, type Twin, type TwinOptions } from '../twin/create-twin.js'
import { createFaultQueue, faultAnswer, type TestFault } from './faults.js'

/** Options of a test service. */
export interface TestServiceOptions extends TwinOptions {
  /** The `baseUrl` of your client, with an optional path prefix. */
  readonly baseUrl: string
}

/** A twin that answers every request below its address. */
export interface TestService extends Twin {
  /** For `setupServer(...service.handlers)`. */
  readonly handlers: readonly HttpHandler[]
  /** Makes the next requests fail, in the order of the calls. @throws {TypeError} When the fault has no status. */
  failNext(fault: TestFault): void
  /** Method and path of every request, oldest first. Headers are omitted, because one holds a secret. */
  readonly requests: readonly string[]
}

/**
 * Makes a twin with handlers. Close it when the tests are done.
 * @throws {TypeError} When `baseUrl` is no URL. @throws {RangeError} When the seed is out of range.
 * @example
 * const service = await createTestService({ baseUrl })
 * setupServer(...service.handlers).listen()
 */
export async function createTestService(options: TestServiceOptions): Promise<TestService> {
  const { baseUrl, ...twinOptions } = options
  const base = parseBase(baseUrl)
  const twin = await createTwin(twinOptions)
  const faults = createFaultQueue()
  const requests: string[] = []

  async function respond(request: Request): Promise<Response> {
    const path = request.url.slice(base.length)
    requests.push(`${request.method} ${path}`)
    const fault = faults.take()
    if (fault !== undefined && fault.afterEffect !== true) return faultAnswer(fault)
    const response = await twin.fetch(new Request(`${new URL(base).origin}${path}`, request))
    return fault === undefined ? response : faultAnswer(fault)
  }
  const handlers = [http.all(`${base}/*`, ({ request }) => respond(request))]
  // The twin itself, because a copy would keep the service of before a restart.
  return Object.assign(twin, { handlers, failNext: faults.add, requests })
}

/** The address without query, fragment and slashes at its end. @throws {TypeError} When it is no URL. */
function parseBase(baseUrl: string): string {
  const url = typeof baseUrl === 'string' ? parseUrl(baseUrl) : null
  if (url === null) throw new TypeError('baseUrl is no URL; pass the address that your client is given.')
  return `${url.origin}${url.pathname}`.replace(/\/{1,64}$/, '')
}
