import { expectTypeOf, test } from 'vitest'
import {
  type AnyClientError,
  type ClientErrorCode,
  createLegacyClient,
  type FlatTransaction,
  flattenLookup,
  isClientError,
  type LegacyClient,
  type Lookup,
  type VerifyResponse,
} from '../exports/index.js'

declare const client: LegacyClient

test('the methods resolve the types of the contract', () => {
  expectTypeOf(createLegacyClient).returns.toEqualTypeOf<LegacyClient>()
  expectTypeOf(client.lookup).returns.resolves.toEqualTypeOf<Lookup>()
  expectTypeOf(client.verify).returns.resolves.toEqualTypeOf<VerifyResponse>()
  expectTypeOf(flattenLookup).parameter(0).toEqualTypeOf<Lookup | VerifyResponse>()
  expectTypeOf(flattenLookup).returns.toEqualTypeOf<FlatTransaction[]>()
  expectTypeOf<FlatTransaction['tokenAmountNetNative']>().toEqualTypeOf<string>()
})

test('an amount is text or a number, a chain id a number', () => {
  const invoice = { txHash: '0x', invoiceCurrency: 'CHF', address: 'mara' }
  void client.verify({ ...invoice, chainId: 1, invoiceAmount: '1.00' })
  void client.verify({ ...invoice, chainId: 1, invoiceAmount: 1 })
  // @ts-expect-error an amount is not in base units
  void client.verify({ ...invoice, chainId: 1, invoiceAmount: 1n })
  // @ts-expect-error a chain id is a number in the legacy API
  void client.lookup({ chainId: '1', txHash: '0x' })
  // @ts-expect-error the key is required
  createLegacyClient({ baseUrl: 'https://payments.example.com' })
  // @ts-expect-error this client does not take the credentials of the read API
  createLegacyClient({ baseUrl: 'https://payments.example.com', apiKey: 'k', apiSecret: 's' })
})

test('a switch over the codes is exhaustive without a default', () => {
  // Without one of the cases, the function would not compile: it could return no value.
  const describe = (error: AnyClientError): string => {
    switch (error.code) {
      case 'ERR_LEGACY_REQUEST_INVALID':
        return error.details.map(({ code, message, path }) => `${path.join('.')} ${code} ${message}`).join()
      case 'ERR_TRANSACTION_NOT_FOUND':
        return `${error.chainId} ${error.txHash}`
      case 'ERR_VERIFICATION_FAILED':
        return `${error.verificationErrors.join()} ${error.result.payments.length}`
      case 'ERR_REQUEST_INVALID':
        return String(error.maxLimit)
      case 'ERR_PAYMENT_NOT_FOUND':
      case 'ERR_PAYMENT_AMBIGUOUS':
        return `${error.txHash} ${error.wallet}`
      case 'ERR_SHARE_TOKEN_REJECTED':
        return error.providerMessage
      case 'ERR_IDENTITY_UNAVAILABLE':
        return String(error.retryAfterSeconds)
      case 'ERR_SHARE_REQUEST_INVALID':
      case 'ERR_SHARING_DISABLED':
      case 'ERR_VERIFICATION_UNAVAILABLE':
      case 'ERR_IDENTITY_MISCONFIGURED':
      case 'ERR_UNAUTHORIZED':
      case 'ERR_RATE_LIMITED':
      case 'ERR_SERVICE_UNAVAILABLE':
      case 'ERR_NETWORK':
      case 'ERR_TIMEOUT':
      case 'ERR_ABORTED':
      case 'ERR_RESPONSE_INVALID':
        return error.message
    }
  }
  expectTypeOf(describe).returns.toEqualTypeOf<string>()

  // @ts-expect-error the error of a failed verification is not handled
  const incomplete = (error: Extract<AnyClientError, { code: 'ERR_NETWORK' | 'ERR_VERIFICATION_FAILED' }>): string => {
    switch (error.code) {
      case 'ERR_NETWORK':
        return error.message
    }
  }
  expectTypeOf(incomplete).returns.toEqualTypeOf<string>()
})

test('isClientError recognizes the errors of every client, and a code names one', () => {
  const error: unknown = undefined
  if (!isClientError(error)) return
  expectTypeOf(error).toEqualTypeOf<AnyClientError>()
  expectTypeOf<AnyClientError['code']>().toEqualTypeOf<ClientErrorCode>()
  if (error.code === 'ERR_VERIFICATION_FAILED') expectTypeOf(error.result).toEqualTypeOf<VerifyResponse>()
})
