import type { PaymentBody as WrittenPayment } from '@payment-integration/contract'
import { expectTypeOf, test } from 'vitest'
import type { Amount, AnyClientError, Client, ClientErrorCode, ClientOptions, Page, Payment } from './exports/index.js'
import { createClient, isClientError } from './exports/index.js'

declare const client: Client

test('the methods resolve the types of the contract', () => {
  expectTypeOf(createClient).returns.toEqualTypeOf<Client>()
  expectTypeOf(client.payments.list).returns.resolves.toEqualTypeOf<Page>()
  expectTypeOf(client.payments.get).returns.resolves.toEqualTypeOf<Payment>()
  expectTypeOf(client.payments.iterate).returns.toEqualTypeOf<AsyncIterable<Payment>>()
  expectTypeOf(client.wallet('0x')).toEqualTypeOf<Client['payments']>()
})

test('amounts have their own type, and a field that may be unknown may be null', () => {
  expectTypeOf<Payment['tokenOut']['amountNet']>().toEqualTypeOf<Amount>()
  expectTypeOf<Payment['tokenOut']['amountGross']>().toEqualTypeOf<Amount>()
  expectTypeOf<Payment['tokenIn']['amount']>().toEqualTypeOf<Amount>()
  expectTypeOf<NonNullable<Payment['invoice']>['amount']>().toEqualTypeOf<Amount>()
  expectTypeOf<NonNullable<Payment['invoice']>['settlementAmount']>().toEqualTypeOf<Amount>()
  expectTypeOf<Amount>().toExtend<string>()
  // @ts-expect-error an unchecked text is not an amount
  const unchecked: Amount = '12.50'
  void unchecked
  expectTypeOf<Payment['tokenIn']['symbol']>().toEqualTypeOf<string | null>()
  expectTypeOf<Page['nextCursor']>().toEqualTypeOf<string | null>()
  expectTypeOf<Payment['version']>().toEqualTypeOf<number>()
})

test('the payment type of the service is that of the client, except for the type of amounts', () => {
  expectTypeOf<Payment>().toExtend<Omit<WrittenPayment, 'state'>>()
  expectTypeOf<keyof Payment>().toEqualTypeOf<keyof WrittenPayment>()
})

test('a state may be an unknown value', () => {
  expectTypeOf<'success'>().toExtend<Payment['state']>()
  expectTypeOf<string>().toExtend<Payment['state']>()
  expectTypeOf<null>().toExtend<Payment['state']>()
  expectTypeOf<Payment['state']>().toExtend<string | null>()
})

test('a switch over code narrows to the fields of one error', () => {
  const error: unknown = undefined
  if (!isClientError(error)) return
  expectTypeOf(error).toEqualTypeOf<AnyClientError>()
  if (error.code === 'ERR_RATE_LIMITED') expectTypeOf(error.retryAfterSeconds).toEqualTypeOf<number | null>()
  if (error.code === 'ERR_REQUEST_INVALID') expectTypeOf(error.maxLimit).toEqualTypeOf<number | null>()
  // @ts-expect-error not every error has a limit
  error.maxLimit
})

test('the code determines whether a call may be retried', () => {
  type ErrorOf<Code extends ClientErrorCode> = Extract<AnyClientError, { code: Code }>
  expectTypeOf<ErrorOf<'ERR_PAYMENT_NOT_FOUND'>['retryable']>().toEqualTypeOf<false>()
  expectTypeOf<ErrorOf<'ERR_NETWORK'>['retryable']>().toEqualTypeOf<true>()
})

test('the global fetch fits, and options that do not exist do not', () => {
  expectTypeOf(globalThis.fetch).toExtend<NonNullable<ClientOptions['fetch']>>()
  const credentials = { baseUrl: 'https://payments.example.com', integrationAddress: '0x', apiSecret: 's' }
  // @ts-expect-error the secret is required
  createClient({ baseUrl: credentials.baseUrl, integrationAddress: '0x' })
  // @ts-expect-error this client has no such option
  createClient({ ...credentials, hooks: {} })
  // @ts-expect-error a limit is a number
  void client.payments.list({ limit: '50' })
  // @ts-expect-error iterate follows the cursors itself
  client.payments.iterate({ cursor: 'c' })
})
