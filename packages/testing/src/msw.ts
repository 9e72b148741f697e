/** Serves the twin of the service through msw handlers. @module */
import { parseUrl } from '@payment-integration/contract/internal'
import { type HttpHandler, http } from 'msw'
import { createFaultQueue } from './identity-provider/control.js'
import { createTwin, type Twin, type TwinOptions } from './twin/create-twin.js'

/** A fault for the next requests. */
export interface TestFault {
  /** The status of the answer, or `network`: the connection breaks. */
  readonly status: number | 'network'
  /** Number of requests that fail; `Infinity`: all. @default 1 */
  readonly times?: number | undefined
  /** Seconds for `Retry-After`. @default none */
  readonly retryAfter?: number | undefined
  /** The body of the answer. @default `{"error":"Service temporarily unavailable"}` */
  readonly body?: object | undefined
  /** Whether the service executes the request, so that only the answer is lost. @default false */
  readonly afterEffect?: boolean | undefined
}

function buildFaultAnswer({ status, retryAfter, body }: TestFault): Response {
  if (status === 'network') return Response.error()
  const headers: Record<string, string> = retryAfter === undefined ? {} : { 'Retry-After': String(retryAfter) }
  // A `Response` of these statuses may have no body.
  if ([204, 205, 304].includes(status)) return new Response(null, { status, headers })
  return Response.json(body ?? { error: 'Service temporarily unavailable' }, { status, headers })
}

/** Options of a test service. */
export interface TestServiceOptions extends TwinOptions {
  /** The `baseUrl` of your client, with an optional path prefix. */
  readonly baseUrl: string
}

/** A twin that answers every request below `baseUrl`. */
export interface TestService extends Twin {
  /** The handlers for `setupServer(...service.handlers)`. */
  readonly handlers: readonly HttpHandler[]
  /** Makes the next requests fail, in the order of the calls. @throws {TypeError} When the status is invalid. */
  failNext(fault: TestFault): void
  /** Method and path of every request, oldest first. Headers are omitted, because one holds a secret. */
  readonly requests: readonly string[]
}

/**
 * Creates a twin with handlers. Close it when the tests are done.
 * @throws {TypeError} When `baseUrl` is no URL. @throws {RangeError} When the seed is out of range.
 * @example
 * import { createTestService } from '@payment-integration/testing/msw'
 * import { setupServer } from 'msw/node'
 * const service = await createTestService({ baseUrl: 'https://payments.example.com' })
 * setupServer(...service.handlers).listen()
 */
export async function createTestService(options: TestServiceOptions): Promise<TestService> {
  const { baseUrl, ...twinOptions } = options
  const base = parseBase(baseUrl)
  const twin = await createTwin(twinOptions)
  const faults = createFaultQueue<TestFault>()
  const requests: string[] = []

  async function respond(request: Request): Promise<Response> {
    const path = request.url.slice(base.length)
    requests.push(`${request.method} ${path}`)
    const fault = faults.take()
    if (fault !== null && fault.afterEffect !== true) return buildFaultAnswer(fault)
    const response = await twin.fetch(new Request(`${new URL(base).origin}${path}`, request))
    return fault === null ? response : buildFaultAnswer(fault)
  }
  function failNext(fault: TestFault): void {
    const { status, times = 1 } = Object(fault) as Partial<TestFault>
    // `Response` accepts only these statuses.
    if (status !== 'network' && !(Number.isInteger(status) && Number(status) >= 200 && Number(status) <= 599))
      throw new TypeError("failNext must get { status }, from 200 to 599 or 'network'.")
    if (times > 0) faults.add(fault)
  }
  const handlers = [http.all(`${base}/*`, ({ request }) => respond(request))]
  // Extends the twin itself, because a copy would keep the old service after a restart.
  return Object.assign(twin, { handlers, failNext, requests })
}

/** The address without query, fragment and slashes at its end. @throws {TypeError} When it is no URL. */
function parseBase(baseUrl: string): string {
  const url = typeof baseUrl === 'string' ? parseUrl(baseUrl) : null
  if (url === null) throw new TypeError('baseUrl is no URL; pass the address that your client is given.')
  return `${url.origin}${url.pathname}`.replace(/\/{1,64}$/, '')
}
