/** Makes one attempt: a request to a whole 200 body or a typed error. Source: docs/interface.md 7. @module */
import {
  ClientError,
  InvalidResponseError,
  NetworkError,
  RateLimitedError,
  ServiceUnavailableError,
  UnauthorizedError,
} from '../errors.js'
import type { Transport } from '../transport-options.js'
import { dropBody, parseJson, readBody } from './read-body.js'
import type { Refusals, RetryAfter } from './refusals.js'
import { parseRetryAfter } from './retry.js'

/** Error codes that a NetworkError may repeat. Any other text could hold a secret of the caller's fetch. */
const networkReasons: ReadonlySet<string> = new Set([
  ...[
    'ECONNREFUSED',
    'ECONNRESET',
    'ECONNABORTED',
    'EHOSTUNREACH',
    'ENETUNREACH',
    'ENETDOWN',
    'ENOTFOUND',
    'EAI_AGAIN',
  ],
  ...['EPIPE', 'ETIMEDOUT', 'EADDRNOTAVAIL', 'EMFILE', 'CERT_HAS_EXPIRED', 'DEPTH_ZERO_SELF_SIGNED_CERT'],
  ...['SELF_SIGNED_CERT_IN_CHAIN', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY'],
  ...[
    'ERR_TLS_CERT_ALTNAME_INVALID',
    'ERR_SSL_WRONG_VERSION_NUMBER',
    'EPROTO',
    'UND_ERR_SOCKET',
    'UND_ERR_CONNECT_TIMEOUT',
    'UND_ERR_HEADERS_TIMEOUT',
  ],
  ...['UND_ERR_BODY_TIMEOUT', 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH', 'HPE_INVALID_CONSTANT'],
])

/**
 * Sends one request and resolves the bytes of its whole answer, so timeout and retries cover the body too.
 * @throws {@link ClientError} For every failure of service or network. An abort and an error of the caller's own
 * functions are rethrown unchanged.
 */
export async function attempt(
  request: Request,
  refusals: Refusals,
  credentials: { readonly options: string },
  transport: Pick<Transport, 'fetch' | 'maxResponseBytes' | 'now'>,
): Promise<Uint8Array<ArrayBuffer>> {
  const response = await overNetwork(request, () => transport.fetch(request))
  const { status } = response
  const read = () => overNetwork(request, () => readBody(response, transport.maxResponseBytes))
  if (status === 200) return read()
  const retryAfter = () => parseRetryAfter(response.headers.get('retry-after'), transport.now())
  const refusal = refusals[status]
  if (refusal) {
    const refused = refusal(parseJson(await read()), retryAfter)
    if (refused) throw refused
    if (status < 500) throw new InvalidResponseError('status', status)
  } else dropBody(response)
  throw failure(response, credentials.options, retryAfter)
}

/** Runs a step that the network can break. */
async function overNetwork<T>(request: Request, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof ClientError || request.signal.aborted) throw error
    throw new NetworkError(networkReason(error))
  }
}

function failure(response: Response, credentialOptions: string, retryAfter: RetryAfter): ClientError {
  const { status } = response
  const isRedirect = (status >= 300 && status < 400) || response.type === 'opaqueredirect'
  if (isRedirect) return new InvalidResponseError('redirect', status)
  if (status === 401) return new UnauthorizedError(credentialOptions)
  if (status === 429) return new RateLimitedError(retryAfter())
  if (status >= 500) return new ServiceUnavailableError(status, retryAfter())
  return new InvalidResponseError('status', status)
}

function networkReason(error: unknown): string | null {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth += 1) {
    const { code } = at as { code?: unknown }
    if (typeof code === 'string' && networkReasons.has(code)) return code
  }
  return null
}
