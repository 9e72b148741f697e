/** Mints share tokens at the provider, as an integrator. Source: docs/interface.md 4.2. @module */
import { ProviderAnswerError } from './errors.js'
import type { ProviderConnection } from './signed-calls.js'
import { checkCredential, classifyFailure, createSignedCall, getField, toText } from './signed-calls.js'

/** Options of minting, with the integrator's own credentials at the provider. */
export interface MintShareTokenOptions extends ProviderConnection {
  /** The integrator's own applicant; it must be approved for a redemption. */
  readonly applicantId: string
  /** The service's client id at the provider, given during onboarding. */
  readonly forClientId: string
  /** Lifetime of the token in seconds, at least 1. @default the provider's own: 1200 */
  readonly ttlInSecs?: number | undefined
  /** Aborts the request. @default none */
  readonly signal?: AbortSignal | undefined
}

/**
 * Mints a share token. It is single use: mint it when you submit it, do not store it, and mint another after a 422.
 * @throws TypeError When an option is blank or malformed, or in a browser: the secret key belongs on a server.
 * @throws RangeError When `ttlInSecs` is not a whole number from 1.
 * @throws ProviderError `ERR_PROVIDER_SETUP` when the provider rejects the credentials, the applicant or the partner;
 * `ERR_PROVIDER_THROTTLED`, `ERR_PROVIDER_UNAVAILABLE`, `ERR_PROVIDER_ANSWER`: mint again.
 * @example
 * import { mintShareToken } from '@payment-integration/identity-sumsub'
 * const { SUMSUB_APP_TOKEN: appToken = '', SUMSUB_SECRET_KEY: secretKey = '' } = process.env
 * export const mint = (applicantId: string): Promise<string> =>
 *   mintShareToken({ appToken, secretKey, applicantId, forClientId: 'the-client-id-of-the-service' })
 */
export async function mintShareToken(options: MintShareTokenOptions): Promise<string> {
  if (isBrowser())
    throw new TypeError('mintShareToken runs on a server: in a browser everybody can read the secret key.')
  const { ttlInSecs, signal } = options
  if (ttlInSecs !== undefined && !(Number.isSafeInteger(ttlInSecs) && ttlInSecs >= 1))
    throw new RangeError(`ttlInSecs is ${ttlInSecs}; pass a whole number of seconds from 1.`)
  const query = {
    applicantId: checkCredential('applicantId', options.applicantId),
    forClientId: checkCredential('forClientId', options.forClientId),
    ...(ttlInSecs === undefined ? {} : { ttlInSecs: String(ttlInSecs) }),
  }
  const answer = await createSignedCall(options)('POST', '/resources/accessTokens/shareToken', query, { signal })
  if (!answer.ok) throw classifyFailure(answer, { sentShareToken: false })
  const token = toText(getField(answer.json, 'token'))
  if (token === null) throw new ProviderAnswerError(answer.status, 'no token')
  return token
}

/** A page has `document` and its worker has `importScripts`; servers and edge runtimes have neither. */
function isBrowser(): boolean {
  const world = globalThis as { readonly document?: unknown; readonly importScripts?: unknown }
  return world.document !== undefined || typeof world.importScripts === 'function'
}
