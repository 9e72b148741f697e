/** The suite that every identity provider passes. Source: the IdentityProvider port. @module */

import { createCheckedProvider } from '@payment-integration/core/identity'
import type { IdentityProvider } from '@payment-integration/core/ports'
import { afterAll, describe, expect, test } from 'vitest'

/** A provider under test. */
export interface IdentityProviderSubject {
  readonly provider: IdentityProvider
  /** A share token that the provider redeems once. */
  mint(): Promise<string> | string
  /** A time after which a redemption may still be sent, in unix milliseconds. */
  now(): number
  /** Takes the provider out of reach. */
  cutOff(): Promise<void> | void
  close(): Promise<void> | void
}

/**
 * Registers the tests of the IdentityProvider port with vitest.
 * @param adapter - Names the tests.
 */
export function identityProviderConformance(adapter: string, open: () => Promise<IdentityProviderSubject>): void {
  let opened: Promise<IdentityProviderSubject> | null = null
  const faults: unknown[] = []
  /** The provider as the service uses it: answers that do not fit the port are faults. */
  const subject = async () => {
    opened ??= open()
    const given = await opened
    return { ...given, provider: createCheckedProvider(given.provider, { error: (fields) => faults.push(fields) }) }
  }
  let names = 0
  const redeem = async (shareToken: string, sendBy?: number) => {
    const { provider, now } = await subject()
    names += 1
    const externalUserId = `conformance-${names}`
    const result = await provider.redeem({ shareToken, externalUserId, sendBy: sendBy ?? now() + 60_000 })
    return { externalUserId, result }
  }

  describe(`${adapter}: an identity provider`, { sequential: true }, () => {
    afterAll(async () => (await opened)?.close())

    test('redeems a token for an applicant that is found by its name, and reviewed by its id', async () => {
      const { provider, mint } = await subject()
      const { externalUserId, result } = await redeem(await mint())
      expect(result).toMatchObject({ kind: 'redeemed' })
      const { applicantId } = result.kind === 'redeemed' ? result.applicant : { applicantId: '' }
      if (provider.findsByName !== false)
        expect(await provider.find(externalUserId)).toMatchObject({ kind: 'answer', value: { applicantId } })
      expect(await provider.review(applicantId)).toMatchObject({ kind: 'answer' })
    })

    test('rejects a token that it does not know, and makes no applicant', async () => {
      const { provider } = await subject()
      const { externalUserId, result } = await redeem('a token that nobody issued')
      expect(result).toMatchObject({ kind: 'rejected', message: expect.any(String) })
      expect(await provider.find(externalUserId)).toEqual({ kind: 'answer', value: null })
    })

    test('knows no applicant of another name or id', async () => {
      const { provider } = await subject()
      expect(await provider.find('nobody')).toEqual({ kind: 'answer', value: null })
      expect(await provider.review('no-such-applicant')).toEqual({ kind: 'answer', value: null })
    })

    test('sends no redemption whose time is over', async () => {
      const { mint, now } = await subject()
      const token = await mint()
      expect((await redeem(token, now() - 1)).result).toEqual({ kind: 'unsent' })
      expect((await redeem(token)).result).toMatchObject({ kind: 'redeemed' })
    })

    test('never rejects a call: out of reach a redemption is unknown, and a look-up unavailable', async () => {
      const { provider, mint, cutOff } = await subject()
      const token = await mint()
      await cutOff()
      expect((await redeem(token)).result).toMatchObject({ kind: 'unknown' })
      expect(await provider.find('nobody')).toMatchObject({ kind: 'unavailable' })
      expect(await provider.review('no-such-applicant')).toMatchObject({ kind: 'unavailable' })
    })

    test('gave no answer that does not fit the port', () => {
      expect(faults).toEqual([])
    })
  })
}
