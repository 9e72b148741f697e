/** The client of the legacy API. Source: docs/interface.md 2.4, 4.3, 5. @module */
import {
  createReader,
  type Lookup,
  legacyErrorBodySchema,
  lookupSchema,
  paths,
  type Verify,
  type VerifyRequest,
  verifyRequestLimits,
  verifySchema,
} from '@payment-integration/contract'
import type { CallOptions } from '../call-options.js'
import { InvalidResponseError } from '../errors.js'
import { checkInteger, checkSignal, checkText, checkTxHash } from '../internal/check.js'
import { type Refusals, refusalOfMissing, refusalWithBody } from '../internal/refusals.js'
import { createRequester } from '../internal/request.js'
import { plainAmount } from './amount.js'
import {
  InvalidLegacyRequestError,
  type RequestFlaw,
  TransactionNotFoundError,
  VerificationFailedError,
} from './errors.js'
import { checkLegacyOptions, type LegacyClientOptions } from './options.js'
import { repeatsSecret } from './repeats-secret.js'

const lookupReader = /* @__PURE__ */ createReader(lookupSchema)
const verifyReader = /* @__PURE__ */ createReader(verifySchema)

/** The largest chain id: 15 digits. */
const maxChainId = 999_999_999_999_999

/** Names one transaction. `txHash`: 0x and 64 hex digits in any case. */
export type TransactionKey = Pick<VerifyRequest, 'chainId' | 'txHash'>

/**
 * Looks up and verifies transactions. Both methods reject with an error of {@link AnyLegacyError}. A malformed argument
 * is a TypeError or RangeError before any request. An error of `random` or `now` is rethrown unchanged.
 */
export interface LegacyClient {
  /**
   * All payments of a transaction, at least one.
   * @throws {@link TransactionNotFoundError} `ERR_TRANSACTION_NOT_FOUND`.
   * @throws {@link InvalidLegacyRequestError} `ERR_INVALID_LEGACY_REQUEST`.
   */
  lookup(transaction: TransactionKey, options?: CallOptions): Promise<Lookup>
  /**
   * All payments of a transaction, at least one; each matches the invoice. `address` is the receiver's address or
   * account handle. Prefer `invoiceAmount` as text; a number counts as the shortest decimal that parses to it.
   * @throws {@link VerificationFailedError} `ERR_VERIFICATION_FAILED` when a payment does not match.
   * @throws {@link TransactionNotFoundError} `ERR_TRANSACTION_NOT_FOUND`.
   * @throws {@link InvalidLegacyRequestError} `ERR_INVALID_LEGACY_REQUEST`.
   */
  verify(request: VerifyRequest, options?: CallOptions): Promise<Verify>
}

/**
 * Makes a client of the legacy API. Nothing is sent until a method is called.
 * @throws {TypeError} When an option is missing or malformed.
 * @throws {RangeError} When a number is out of range.
 * @example
 * const legacy = createLegacyClient({ baseUrl: 'https://payments.example.com', apiKey })
 * const { payments } = await legacy.lookup({ chainId: 137, txHash })
 */
export function createLegacyClient(options: LegacyClientOptions): LegacyClient {
  const { apiKey, bearer, ...transport } = checkLegacyOptions(options)
  const request = createRequester(transport, {
    authorization: bearer ? `Bearer ${apiKey}` : apiKey,
    secrets: [apiKey],
    options: 'apiKey, and bearer when a proxy asks for a scheme',
  })

  function refusalsOf(key: TransactionKey): Refusals {
    return {
      400: refusalWithBody(legacyErrorBodySchema, ({ details }) => refusedRequest(details)),
      404: refusalOfMissing(() => new TransactionNotFoundError(key.chainId, key.txHash)),
    }
  }

  function refusedRequest(found: readonly RequestFlaw[]) {
    // Only the three fields of the contract: others could hold a secret.
    const details = found.map(({ code, message, path }) => ({ code, message, path }))
    if (repeatsSecret(details, apiKey)) return new InvalidResponseError('repeated_secret', 400)
    return new InvalidLegacyRequestError(details)
  }

  function refusedVerification(found: Verify, key: TransactionKey) {
    if (repeatsSecret(found, apiKey)) return new InvalidResponseError('repeated_secret', 409)
    const isRefusal = found.payments.some(({ verified, verificationErrors: { length } }) => !verified && length > 0)
    return (
      mismatch(found, key, 409) ??
      (isRefusal ? new VerificationFailedError(found) : new InvalidResponseError('contradiction', 409, 'payments'))
    )
  }

  return {
    async lookup(transaction, { signal } = {}) {
      const key = checkKey('lookup', transaction)
      const found = await request({
        path: paths.legacyLookup.replace(':chainId', String(key.chainId)).replace(':txHash', key.txHash),
        schema: lookupReader,
        refusals: refusalsOf(key),
        signal: checkSignal(signal),
      })
      assertAnswers(found, key, found.payments.length > 0)
      return found
    },
    async verify(payload, { signal } = {}) {
      const key = checkKey('verify', payload)
      const found = await request({
        path: paths.legacyVerify,
        json: {
          ...key,
          invoiceAmount: plainAmount(payload.invoiceAmount),
          invoiceCurrency: checkCurrency(payload.invoiceCurrency),
          address: checkPayee(payload.address),
        },
        schema: verifyReader,
        refusals: { ...refusalsOf(key), 409: refusalWithBody(verifySchema, (body) => refusedVerification(body, key)) },
        signal: checkSignal(signal),
      })
      // An empty list would be "all verified" too, and the shop would deliver without a payment.
      const { payments } = found
      const all = payments.every(({ verified, verificationErrors }) => verified && verificationErrors.length === 0)
      assertAnswers(found, key, payments.length > 0 && all)
      return found
    },
  }
}

function checkKey(method: string, value: TransactionKey): TransactionKey {
  if (typeof value !== 'object' || value === null)
    throw new TypeError(`${method} expects an object with chainId and txHash.`)
  return { chainId: checkInteger('chainId', value.chainId, 1, maxChainId), txHash: checkTxHash(value.txHash) }
}

function checkCurrency(value: unknown): string {
  const currency = checkText('invoiceCurrency', value)
  if (currency !== currency.toUpperCase())
    throw new TypeError('invoiceCurrency has lowercase letters; pass an uppercase code such as USD.')
  return currency
}

function checkPayee(value: unknown): string {
  const address = checkText('address', value)
  if (address.length > verifyRequestLimits.address)
    throw new RangeError(
      `address has ${address.length} characters; pass an address or an account handle, ${verifyRequestLimits.address} characters at most.`,
    )
  return address
}

/** Detects an answer about another transaction, as a cache may mix them up. Answers may spell a hash in any case. */
function mismatch(found: TransactionKey, key: TransactionKey, status: number): InvalidResponseError | null {
  if (found.chainId !== key.chainId) return new InvalidResponseError('mismatch', status, 'chainId')
  if (found.txHash.toLowerCase() !== key.txHash) return new InvalidResponseError('mismatch', status, 'txHash')
  return null
}

/** @param fits - Whether the payments agree with the status 200. */
function assertAnswers(found: TransactionKey, key: TransactionKey, fits: boolean): void {
  const error = mismatch(found, key, 200)
  if (error) throw error
  if (!fits) throw new InvalidResponseError('contradiction', 200, 'payments')
}
