import type { OpenShareResponse } from '@payment-integration/contract'
import { expectTypeOf, test } from 'vitest'
import type { AnyClientError, Client, ClientErrorCode, ShareResult } from '../exports/index.js'
import { isClientError } from '../exports/index.js'

declare const client: Client

test('a share takes the two fields and resolves a result', () => {
  expectTypeOf(client.identity.share).returns.resolves.toEqualTypeOf<ShareResult>()
  void client.identity.share({ email: 'a@b.example', kycShareToken: 't' }, { signal: new AbortController().signal })
  // @ts-expect-error the token is required
  void client.identity.share({ email: 'a@b.example' })
  // @ts-expect-error the service names no account
  void client.identity.share({ email: 'a@b.example', kycShareToken: 't', applicantId: 'a' })
  // @ts-expect-error the e-mail address is a text
  void client.identity.share({ email: null, kycShareToken: 't' })
})

test('a switch over kind is exhaustive without a default, and narrows to the fields of one kind', () => {
  const describe = (result: ShareResult): string => {
    switch (result.kind) {
      case 'approved':
        return String(result.redeemed)
      case 'rejected':
        expectTypeOf(result.canRetry).toEqualTypeOf<boolean>()
        return result.labels.join()
      case 'in_flight':
        expectTypeOf(result.status).toEqualTypeOf<'init' | 'pending' | 'prechecked' | 'onHold'>()
        return result.status
      case 'not_started':
      case 'unknown':
        expectTypeOf(result.response).toEqualTypeOf<OpenShareResponse>()
        return result.response.reviewStatus
    }
  }
  expectTypeOf(describe).returns.toEqualTypeOf<string>()

  // @ts-expect-error the kind `unknown` is not handled
  const incomplete = (result: ShareResult): string => {
    switch (result.kind) {
      case 'approved':
      case 'rejected':
      case 'in_flight':
      case 'not_started':
        return result.kind
    }
  }
  expectTypeOf(incomplete).returns.toEqualTypeOf<string>()

  const result = {} as ShareResult
  // @ts-expect-error only a rejection has labels
  result.labels
  // @ts-expect-error a result is read-only
  result.redeemed = false
})

test('a code narrows to the fields of its error, and says whether a share may be retried', () => {
  const error: unknown = undefined
  if (!isClientError(error)) return
  if (error.code === 'ERR_SHARE_TOKEN_REJECTED') {
    expectTypeOf(error.providerMessage).toEqualTypeOf<string>()
    expectTypeOf(error.formerVerdict?.rejectType).toEqualTypeOf<'RETRY' | 'FINAL' | null | undefined>()
  }
  if (error.code === 'ERR_IDENTITY_UNAVAILABLE') expectTypeOf(error.retryAfterSeconds).toEqualTypeOf<number | null>()
  type ErrorOf<Code extends ClientErrorCode> = Extract<AnyClientError, { code: Code }>
  expectTypeOf<ErrorOf<'ERR_IDENTITY_UNAVAILABLE'>['retryable']>().toEqualTypeOf<true>()
  expectTypeOf<ErrorOf<'ERR_IDENTITY_MISCONFIGURED'>['retryable']>().toEqualTypeOf<false>()
})
