import { expectTypeOf, test } from 'vitest'
import {
  type AnyClientError,
  type AnyLegacyError,
  type AnyReadError,
  type AnyShareError,
  createLegacyClient,
  type FlatTransaction,
  flattenLookup,
  isClientError,
  type LegacyClient,
  type Lookup,
  type Verify,
} from '../exports/index.js'

declare const client: LegacyClient

test('the methods resolve the types of the contract', () => {
  expectTypeOf(createLegacyClient).returns.toEqualTypeOf<LegacyClient>()
  expectTypeOf(client.lookup).returns.resolves.toEqualTypeOf<Lookup>()
  expectTypeOf(client.verify).returns.resolves.toEqualTypeOf<Verify>()
  expectTypeOf(flattenLookup).parameter(0).toEqualTypeOf<Lookup | Verify>()
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

test('a switch over the codes of one client is exhaustive without a default', () => {
  // Without one of the cases, the function would not compile: it could return no value.
  const ofLegacy = (error: AnyLegacyError): string => {
    switch (error.code) {
      case 'ERR_INVALID_LEGACY_REQUEST':
        return error.details.map(({ code, message, path }) => `${path.join('.')} ${code} ${message}`).join()
      case 'ERR_TRANSACTION_NOT_FOUND':
        return `${error.chainId} ${error.txHash}`
      case 'ERR_VERIFICATION_FAILED':
        return `${error.verificationErrors.join()} ${error.result.payments.length}`
      case 'ERR_UNAUTHORIZED':
      case 'ERR_RATE_LIMITED':
      case 'ERR_SERVICE_UNAVAILABLE':
      case 'ERR_NETWORK':
      case 'ERR_TIMEOUT':
      case 'ERR_ABORTED':
      case 'ERR_INVALID_RESPONSE':
        return error.message
    }
  }
  const ofReading = (error: AnyReadError): string => {
    switch (error.code) {
      case 'ERR_INVALID_REQUEST':
        return String(error.maxLimit)
      case 'ERR_NOT_FOUND':
      case 'ERR_AMBIGUOUS_PAYMENT':
        return `${error.txHash} ${error.wallet}`
      case 'ERR_UNAUTHORIZED':
      case 'ERR_RATE_LIMITED':
      case 'ERR_SERVICE_UNAVAILABLE':
      case 'ERR_NETWORK':
      case 'ERR_TIMEOUT':
      case 'ERR_ABORTED':
      case 'ERR_INVALID_RESPONSE':
        return error.message
    }
  }
  expectTypeOf(ofLegacy).returns.toEqualTypeOf<string>()
  expectTypeOf(ofReading).returns.toEqualTypeOf<string>()

  // @ts-expect-error the error of a failed verification is not handled
  const incomplete = (error: Exclude<AnyLegacyError, { code: 'ERR_NETWORK' }>): string => {
    switch (error.code) {
      case 'ERR_INVALID_LEGACY_REQUEST':
      case 'ERR_TRANSACTION_NOT_FOUND':
      case 'ERR_UNAUTHORIZED':
      case 'ERR_RATE_LIMITED':
      case 'ERR_SERVICE_UNAVAILABLE':
      case 'ERR_TIMEOUT':
      case 'ERR_ABORTED':
      case 'ERR_INVALID_RESPONSE':
        return error.message
    }
  }
  expectTypeOf(incomplete).returns.toEqualTypeOf<string>()
})

test('isClientError recognises the errors of every client, and a code names one', () => {
  const error: unknown = undefined
  if (!isClientError(error)) return
  expectTypeOf(error).toEqualTypeOf<AnyClientError>()
  expectTypeOf<AnyClientError>().toEqualTypeOf<AnyReadError | AnyShareError | AnyLegacyError>()
  if (error.code === 'ERR_VERIFICATION_FAILED') expectTypeOf(error.result).toEqualTypeOf<Verify>()
  type Codes<T extends { code: string }> = T['code']
  expectTypeOf<Exclude<Codes<AnyLegacyError>, Codes<AnyReadError>>>().toEqualTypeOf<
    'ERR_INVALID_LEGACY_REQUEST' | 'ERR_TRANSACTION_NOT_FOUND' | 'ERR_VERIFICATION_FAILED'
  >()
  expectTypeOf<Exclude<Codes<AnyReadError>, Codes<AnyLegacyError>>>().toEqualTypeOf<
    'ERR_INVALID_REQUEST' | 'ERR_NOT_FOUND' | 'ERR_AMBIGUOUS_PAYMENT'
  >()
})
