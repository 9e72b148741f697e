/** The service as stateful msw handlers. Source: docs/interface.md 4, 5, 7. @module */
import { integrationPrefix, paths } from '@payment-integration/contract'
import { type HttpHandler, http } from 'msw'
import { notFound, unauthorized } from './answers.js'
import { callerOf, hasLegacyKey, type TestIntegration } from './credentials.js'
import { createFaultQueue, faultAnswer, type TestFault } from './faults.js'
import { createLegacyState, type LegacyState, lookup, verify } from './legacy-api.js'
import { createTestPayments, type TestPayments } from './payments.js'
import { getPayment, listPayments } from './read-api.js'
import { shareVerification } from './share-api.js'
import { createVerificationState, type IdentityControl } from './verifications.js'

/** Options of a test service. */
export interface TestServiceOptions {
  /** The `baseUrl` of your client, with an optional path prefix. */
  readonly baseUrl: string
  /** The callers of the integration API. */
  readonly integrations: readonly TestIntegration[]
  /** Keys of the legacy API. @default none */
  readonly legacyKeys?: readonly string[] | undefined
}

/** A service under the control of a test. */
export interface TestService extends Pick<TestPayments, 'record' | 'change' | 'forget' | 'all'> {
  /** For `setupServer(...service.handlers)`. */
  readonly handlers: readonly HttpHandler[]
  readonly identity: IdentityControl
  readonly legacy: Pick<LegacyState, 'record' | 'addAccount'>
  /** Makes the next requests fail, in the order of the calls. */
  failNext(fault: TestFault): void
  /** Method and path of every request, oldest first. Headers are omitted, because one holds a secret. */
  readonly requests: readonly string[]
}

type Parameters = Readonly<Record<string, string>>
type Method = 'get' | 'post'
interface Endpoint {
  readonly method: Method
  respond(request: Request, parameters: Parameters): Response | Promise<Response>
}
/** Every endpoint for integrators: a new one in the contract is a compile error in the table below. */
type EndpointName = Exclude<keyof typeof paths, 'processorUpdates'>

/** Checks the options of a test without types. @throws {TypeError} */
function checked(options: TestServiceOptions): TestServiceOptions & { legacyKeys: readonly string[] } {
  const { baseUrl, integrations, legacyKeys = [], ...others } = Object(options) as TestServiceOptions
  if (typeof baseUrl !== 'string' || baseUrl === '')
    throw new TypeError('baseUrl is missing; pass the address that your client is given.')
  if (!Array.isArray(integrations) || !integrations.every((each) => each?.address && each.apiSecret))
    throw new TypeError('integrations must be a list of { address, apiSecret }.')
  if (!Array.isArray(legacyKeys)) throw new TypeError('legacyKeys must be a list of keys.')
  const [unknown] = Object.keys(others)
  if (unknown !== undefined)
    throw new TypeError(`${unknown} is no option; there are baseUrl, integrations and legacyKeys.`)
  return { baseUrl, integrations, legacyKeys }
}

/**
 * Makes a service. It refuses the same requests as the real service, by the same rules in the same order. Its answers
 * pass the contract's write schemas.
 *
 * @throws {TypeError} When an option is missing, malformed or unknown. `failNext` throws it for a fault without status.
 * @example
 * const service = createTestService({ baseUrl, integrations: [{ address, apiSecret }] })
 * setupServer(...service.handlers).listen()
 */
export function createTestService(options: TestServiceOptions): TestService {
  const { baseUrl, integrations, legacyKeys } = checked(options)
  const payments = createTestPayments()
  const legacy = createLegacyState()
  const verifications = createVerificationState()
  const faults = createFaultQueue()
  const requests: string[] = []
  const base = baseUrl.replace(/\/{1,64}$/, '')

  const asIntegration =
    (respond: (caller: string, request: Request, parameters: Parameters) => Response | Promise<Response>) =>
    (request: Request, parameters: Parameters) => {
      const caller = callerOf(request, integrations)
      return caller === null ? unauthorized('Basic') : respond(caller, request, parameters)
    }
  const asLegacy =
    (respond: Endpoint['respond']): Endpoint['respond'] =>
    (request, parameters) =>
      hasLegacyKey(request, legacyKeys) ? respond(request, parameters) : unauthorized('Bearer')
  const list = asIntegration((caller, { url }, parameters) =>
    listPayments(payments, { caller, url: new URL(url), ...parameters }),
  )
  const get = asIntegration((caller, { url }, parameters) =>
    getPayment(payments, { caller, url: new URL(url), ...parameters }),
  )
  const endpoints: Record<EndpointName, Endpoint> = {
    payments: { method: 'get', respond: list },
    payment: { method: 'get', respond: get },
    walletPayments: { method: 'get', respond: list },
    walletPayment: { method: 'get', respond: get },
    shareToken: {
      method: 'post',
      respond: asIntegration((caller, request) => shareVerification(verifications, caller, request)),
    },
    legacyLookup: {
      method: 'get',
      respond: asLegacy((_, { chainId = '', txHash = '' }) => lookup(legacy, chainId, txHash)),
    },
    legacyVerify: { method: 'post', respond: asLegacy((request) => verify(legacy, request)) },
  }

  async function respond(endpoint: Endpoint['respond'], request: Request, parameters: Parameters): Promise<Response> {
    requests.push(`${request.method} ${request.url.slice(base.length)}`)
    const fault = faults.take()
    if (fault === undefined) return endpoint(request, parameters)
    if (fault.afterEffect === true) await endpoint(request, parameters)
    return faultAnswer(fault)
  }
  const known = (Object.entries(endpoints) as [EndpointName, Endpoint][]).map(([name, { method, respond: endpoint }]) =>
    http[method](`${base}${paths[name]}`, ({ request, params }) => respond(endpoint, request, params as Parameters)),
  )
  // Authentication comes first, even for unknown paths.
  const unknown = http.all(`${base}${integrationPrefix}/*`, ({ request }) =>
    respond(asIntegration(notFound), request, {}),
  )
  return {
    handlers: [...known, unknown],
    record: payments.record,
    change: payments.change,
    forget: payments.forget,
    all: payments.all,
    identity: verifications.control,
    legacy: { record: legacy.record, addAccount: legacy.addAccount },
    failNext: faults.add,
    requests,
  }
}
