/**
 * The client of the legacy API, its errors, and the flat shape of an answer. Source: docs/interface.md 2.4, 4.3, 5, 7.
 * Unlike other errors, these hold text of the answer, which the caller needs. The client first checks that the answer
 * does not repeat the API key.
 * @module
 */
import {
  createSchemaReader,
  type FlatTransaction,
  verificationErrors as knownReasons,
  type LegacyErrorBody,
  type Lookup,
  legacyErrorBodySchema,
  lookupSchema,
  paths,
  type VerifyRequest,
  type VerifyResponse,
  verifyRequestLimits,
  verifyResponseSchema,
} from '@payment-integration/contract'
import { primitives } from '@payment-integration/contract/internal'
import { addAmounts, formatAmount, isAmount } from '../amounts.js'
import { ClientError, InvalidResponseError } from '../errors.js'
import { checkInteger, checkObject, checkSignal, checkText, checkTxHash } from '../internal/check.js'
import { createRequester, type Rejections, rejectMissing, rejectWithBody } from '../internal/request.js'
import { type CallOptions, checkTransport, type TransportOptions } from '../transport-options.js'

/** One flaw of a request: its code, a message, and the names of the parameters. */
export type RequestFlaw = LegacyErrorBody['details'][number]

/** 400. The service rejected one or more parameters. Source: docs/interface.md 4.3. */
export class InvalidLegacyRequestError extends ClientError {
  override readonly name = 'InvalidLegacyRequestError'
  readonly code = 'ERR_LEGACY_REQUEST_INVALID'
  readonly retryable = false
  /** Every flaw that the service found, verbatim: `code`, `message`, and `path`, the names of the parameters. */
  readonly details: readonly RequestFlaw[]
  constructor(details: readonly RequestFlaw[]) {
    super('The service rejected the request (400). See details for each wrong parameter.')
    this.details = details
  }
}

/** 404. The service has no payment of this transaction (yet). Source: docs/interface.md 4.3. */
export class TransactionNotFoundError extends ClientError {
  override readonly name = 'TransactionNotFoundError'
  readonly code = 'ERR_TRANSACTION_NOT_FOUND'
  readonly retryable = false
  readonly chainId: number
  readonly txHash: string
  constructor(chainId: number, txHash: string) {
    super(
      `There is no payment in transaction ${txHash} on chain ${chainId} (404). Check both; a new one may take a while.`,
    )
    this.chainId = chainId
    this.txHash = txHash
  }
}

/** 409. At least one payment of the transaction does not match the invoice. Source: docs/interface.md 4.3. */
export class VerificationFailedError extends ClientError {
  override readonly name = 'VerificationFailedError'
  readonly code = 'ERR_VERIFICATION_FAILED'
  readonly retryable = false
  /** The transaction with its payments, each with `verified` and its own `verificationErrors`. */
  readonly result: VerifyResponse
  /**
   * The distinct reasons over all payments, at least one, verbatim: `Payment does not match link configuration`,
   * `Invalid payment address`, `Invalid payment currency`, `Invalid payment amount`, or a reason of a newer service.
   */
  readonly verificationErrors: readonly string[]
  constructor(result: VerifyResponse) {
    const reasons = [...new Set(result.payments.flatMap((payment) => payment.verificationErrors))]
    // The message repeats only texts of the contract, because messages end up in logs, line by line.
    const reported = knownReasons.filter((reason) => reasons.includes(reason))
    const unverified = result.payments.filter(({ verified }) => !verified).length
    super(
      `${unverified} of ${result.payments.length} payments in the transaction do not match the invoice (409)${reported.length > 0 ? `: ${reported.join(', ')}` : ''}. Do not deliver.`,
    )
    this.result = result
    this.verificationErrors = reasons
  }
}

/** The API key, and the options of every client. */
export interface LegacyClientOptions extends TransportOptions {
  /** The API key: printable ASCII without spaces, and without a scheme before it. */
  readonly apiKey: string
  /** Sends `Bearer <key>` instead of the bare key, for a proxy that asks for a scheme. @default false */
  readonly bearer?: boolean | undefined
}

/**
 * Checks the options and adds defaults. No message repeats `apiKey`, or a text that could be a misplaced key.
 * @throws {TypeError} When an option is missing, of the wrong type or malformed.
 * @throws {RangeError} When a number is out of range.
 */
export function checkLegacyOptions(options: LegacyClientOptions) {
  checkObject('createLegacyClient', options, 'baseUrl and apiKey')
  const { bearer = false } = options
  if (typeof bearer !== 'boolean') throw new TypeError(`bearer is of type ${typeof bearer}; pass true or false.`)
  return { ...checkTransport(options), apiKey: checkApiKey(options.apiKey), bearer }
}

function checkApiKey(value: unknown): string {
  const key = checkText('apiKey', value)
  if (!/^[\x21-\x7e]+$/.test(key))
    throw new TypeError('apiKey is not printable ASCII without spaces; pass the bare key, without a scheme.')
  return key
}

/**
 * Plain decimal text for an amount: no sign, no exponent. Text stays unchanged. A number becomes the shortest decimal
 * that parses to the same number: `0.1` gives `0.1`, `1e-7` gives `0.0000001`.
 * @throws {TypeError} For a text that is not a plain decimal, and for other types.
 * @throws {RangeError} For a number that is negative, `-0`, `NaN` or infinite, and for more than 100 characters.
 */
export function plainAmount(value: unknown): string {
  const amount = typeof value === 'number' ? formatPlain(value) : checkPlain(value)
  const { length } = amount
  if (length > verifyRequestLimits.invoiceAmount)
    throw new RangeError(
      `invoiceAmount has ${length} characters without an exponent; pass ${verifyRequestLimits.invoiceAmount} at most.`,
    )
  return amount
}

function checkPlain(value: unknown): string {
  if (typeof value !== 'string')
    throw new TypeError(`invoiceAmount is of type ${typeof value}; pass a decimal as text, or a number.`)
  if (!primitives.amount.safeParse(value).success)
    throw new TypeError(
      "invoiceAmount is no plain decimal; pass text such as '12.50', without sign, exponent or spaces.",
    )
  return value
}

function formatPlain(value: number): string {
  if (!Number.isFinite(value) || value < 0 || Object.is(value, -0))
    throw new RangeError(`invoiceAmount is ${Object.is(value, -0) ? '-0' : value}; pass a finite number, 0 or more.`)
  const [mantissa = '', exponent] = String(value).split('e')
  if (exponent === undefined) return mantissa
  const [integer = '', fraction = ''] = mantissa.split('.')
  const digits = integer + fraction
  const pointAt = integer.length + Number(exponent)
  // String() uses an exponent only below 1e-6 and from 1e21 on. There the missing digits are all zeros.
  return pointAt > 0 ? digits.padEnd(pointAt, '0') : `0.${'0'.repeat(-pointAt)}${digits}`
}

/** A shorter secret is not looked for: it may occur in ordinary text such as a memo of a correct answer. */
const minDetectedLength = 16

/** Whether a parsed body holds the secret, in any escaping. Always false for a secret under 16 characters. */
export function repeatsSecret(body: unknown, secret: string): boolean {
  // The body is already parsed, so JSON.stringify escapes body and secret alike.
  return secret.length >= minDetectedLength && JSON.stringify(body).includes(JSON.stringify(secret).slice(1, -1))
}

/**
 * One flat entry per payment, in the order of the answer. Amounts are decimal text; `…Native` counts base units.
 * `serviceFee` is the exact sum of the service fees in token units, `0` without any. `priceFeeds` joins the contracts
 * by commas in the order of use; a rate without a contract gives an empty entry.
 * @throws {TypeError} When one of several service fees is not a plain decimal of at most 1000 characters.
 * @example
 * import { flattenLookup, type LegacyClient } from '@payment-integration/client'
 * const findNetAmount = async (legacy: LegacyClient, txHash: string) =>
 *   flattenLookup(await legacy.lookup({ chainId: 137, txHash }))[0]?.tokenAmountNet
 */
export function flattenLookup({ chainId, txHash, payments }: Lookup | VerifyResponse): FlatTransaction[] {
  return payments.map((payment) => ({
    chainId,
    txHash,
    memo: payment.memo,
    receiver: payment.receiver,
    tokenSymbol: payment.tokenSymbol,
    tokenAmountGross: payment.tokenAmount.formatted,
    tokenAmountNet: payment.tokenAmountNet.formatted,
    tokenAmountGrossNative: payment.tokenAmount.value,
    tokenAmountNetNative: payment.tokenAmountNet.value,
    serviceFee: computeSum(payment.fees.filter(({ type }) => type === 'ServiceFee').map(({ formatted }) => formatted)),
    invoiceAmount: payment.invoiceAmount,
    invoiceCurrency: payment.invoiceCurrency,
    conversion: payment.conversion,
    priceFeeds: payment.priceFeeds.map(({ contract }) => contract).join(','),
  }))
}

/** One decimal stays unchanged; several give their exact sum in its shortest form. */
function computeSum(decimals: readonly string[]): string {
  if (decimals.length < 2) return decimals[0] ?? '0'
  if (!decimals.every(isAmount))
    throw new TypeError('A ServiceFee of the answer is no plain decimal; read fees of the look-up instead.')
  return formatAmount(decimals.reduce((sum, each) => addAmounts(sum, each)))
}

const lookupReader = /* @__PURE__ */ createSchemaReader(lookupSchema)
const verifyReader = /* @__PURE__ */ createSchemaReader(verifyResponseSchema)

/** Names one transaction. `txHash`: 0x and 64 hex digits in any case. */
export type TransactionKey = Pick<VerifyRequest, 'chainId' | 'txHash'>

/**
 * Looks up and verifies transactions. Both methods may reject with `ERR_UNAUTHORIZED`, `ERR_RATE_LIMITED`,
 * `ERR_SERVICE_UNAVAILABLE`, `ERR_NETWORK`, `ERR_TIMEOUT`, `ERR_ABORTED`, `ERR_RESPONSE_INVALID`, and the codes they
 * name. A malformed argument is a TypeError or RangeError before any request. An error of `random` or `clock` is
 * rethrown unchanged.
 */
export interface LegacyClient {
  /**
   * All payments of a transaction, at least one.
   * @throws {@link TransactionNotFoundError} `ERR_TRANSACTION_NOT_FOUND`.
   * @throws {@link InvalidLegacyRequestError} `ERR_LEGACY_REQUEST_INVALID`.
   */
  lookup(transaction: TransactionKey, options?: CallOptions): Promise<Lookup>
  /**
   * All payments of a transaction, at least one; each matches the invoice. `address` is the receiver's address or
   * account handle. Prefer `invoiceAmount` as text; a number counts as the shortest decimal that parses to it.
   * @throws {@link VerificationFailedError} `ERR_VERIFICATION_FAILED` when a payment does not match.
   * @throws {@link TransactionNotFoundError} `ERR_TRANSACTION_NOT_FOUND`.
   * @throws {@link InvalidLegacyRequestError} `ERR_LEGACY_REQUEST_INVALID`.
   */
  verify(request: VerifyRequest, options?: CallOptions): Promise<VerifyResponse>
}

/**
 * Creates a client of the legacy API. Nothing is sent until a method is called.
 * @throws {TypeError} When an option is missing or malformed.
 * @throws {RangeError} When a number is out of range.
 * @throws {@link ClientError} From its methods, such as `ERR_TRANSACTION_NOT_FOUND`: {@link LegacyClient} names all
 * codes.
 * @example
 * import { createLegacyClient } from '@payment-integration/client'
 * const apiKey = process.env['LEGACY_API_KEY'] ?? ''
 * const legacy = createLegacyClient({ baseUrl: 'https://payments.example.com', apiKey })
 * const { payments } = await legacy.lookup({ chainId: 137, txHash: `0x${'b2'.repeat(32)}` })
 */
export function createLegacyClient(options: LegacyClientOptions): LegacyClient {
  const { apiKey, bearer, ...transport } = checkLegacyOptions(options)
  const request = createRequester(transport, {
    authorization: bearer ? `Bearer ${apiKey}` : apiKey,
    secrets: [apiKey],
    optionNames: 'apiKey, and bearer when a proxy asks for a scheme',
  })

  function buildRejections(key: TransactionKey): Rejections {
    return {
      400: rejectWithBody(legacyErrorBodySchema, ({ details }) => toRequestError(details)),
      404: rejectMissing(() => new TransactionNotFoundError(key.chainId, key.txHash)),
    }
  }

  function toRequestError(flaws: readonly RequestFlaw[]) {
    // Only the three fields of the contract: others could hold a secret.
    const details = flaws.map(({ code, message, path }) => ({ code, message, path }))
    if (repeatsSecret(details, apiKey)) return new InvalidResponseError('repeated_secret', 400)
    return new InvalidLegacyRequestError(details)
  }

  function toVerificationError(answer: VerifyResponse, key: TransactionKey) {
    if (repeatsSecret(answer, apiKey)) return new InvalidResponseError('repeated_secret', 409)
    const isRejection = answer.payments.some(({ verified, verificationErrors: { length } }) => !verified && length > 0)
    return (
      findOtherTransaction(answer, key, 409) ??
      (isRejection ? new VerificationFailedError(answer) : new InvalidResponseError('contradiction', 409, 'payments'))
    )
  }

  return {
    async lookup(transaction, { signal } = {}) {
      const key = checkKey('lookup', transaction)
      const answer = await request({
        path: paths.legacyLookup.replace(':chainId', String(key.chainId)).replace(':txHash', key.txHash),
        schema: lookupReader,
        rejections: buildRejections(key),
        signal: checkSignal(signal),
      })
      assertFitsRequest(answer, key, answer.payments.length > 0)
      return answer
    },
    async verify(payload, { signal } = {}) {
      const key = checkKey('verify', payload)
      const answer = await request({
        path: paths.legacyVerify,
        json: {
          ...key,
          invoiceAmount: plainAmount(payload.invoiceAmount),
          invoiceCurrency: checkCurrency(payload.invoiceCurrency),
          address: checkPayee(payload.address),
        },
        schema: verifyReader,
        rejections: {
          ...buildRejections(key),
          409: rejectWithBody(verifyResponseSchema, (body) => toVerificationError(body, key)),
        },
        signal: checkSignal(signal),
      })
      // An empty list would be "all verified" too, and the shop would deliver without a payment.
      const { payments } = answer
      const isFlawed = payments.some(({ verified, verificationErrors }) => !verified || verificationErrors.length > 0)
      assertFitsRequest(answer, key, payments.length > 0 && !isFlawed)
      return answer
    },
  }
}

function checkKey(method: string, value: TransactionKey): TransactionKey {
  checkObject(method, value, 'chainId and txHash')
  return { chainId: checkInteger('chainId', value.chainId, 1, 999_999_999_999_999), txHash: checkTxHash(value.txHash) }
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
function findOtherTransaction(
  answer: TransactionKey,
  key: TransactionKey,
  status: number,
): InvalidResponseError | null {
  if (answer.chainId !== key.chainId) return new InvalidResponseError('mismatch', status, 'chainId')
  if (answer.txHash.toLowerCase() !== key.txHash) return new InvalidResponseError('mismatch', status, 'txHash')
  return null
}

/** @param fitsStatus - Whether the payments agree with the status 200. */
function assertFitsRequest(answer: TransactionKey, key: TransactionKey, fitsStatus: boolean): void {
  const error = findOtherTransaction(answer, key, 200)
  if (error) throw error
  if (!fitsStatus) throw new InvalidResponseError('contradiction', 200, 'payments')
}
