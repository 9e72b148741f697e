import { shareRequestLimits } from '@payment-integration/contract'
import { expect, test } from 'vitest'
import * as fixtures from '../../test/support/identity-setup.js'
import { InvalidShareRequestError } from '../errors.js'
import type { Store } from '../ports/store.js'
import { redemptionLeaseMs, redemptionWindowMs } from './redemption.js'
import { parseShareRequest } from './share.js'

const { approved, begun, email, first, identitySetup, notStarted, otherShop, rejected, second, shop } = fixtures
const unavailable = expect.objectContaining({ code: 'ERR_IDENTITY_UNAVAILABLE', retryable: true })
const input = { integrationAddress: shop, email, shareToken: 'token' }

test('an approval of another level than the requested one attaches its applicant, and does not count', async () => {
  const { share, provider, start, subject, history } = identitySetup()
  provider.reviews.set(`applicant of ${first}`, approved)
  provider.levelName = 'basic'
  const asking = start({ provider: { ...provider, levelName: 'strict' } })
  const input = { integrationAddress: shop, email, shareToken: 'canary-token' }
  expect(await asking.share(input)).toEqual({ ...begun, reused: true })
  expect(subject()).toMatchObject({ applicantId: `applicant of ${first}`, review: begun, reviewedAt: null })
  expect(history()).toEqual(['redemption review other_level'])
  expect(await share()).toEqual({ ...begun, reused: false })
})

test('a rejected retry after RED leaves the verification unchanged and answers the former verdict', async () => {
  const { share, webhook, fails, subject } = identitySetup()
  await share()
  await webhook(rejected)
  const before = subject()
  fails('rejected')
  await expect(share()).rejects.toMatchObject({ code: 'ERR_SHARE_TOKEN_REJECTED', formerVerdict: rejected })
  expect(subject()).toEqual({ ...before, redemptions: 2 })
})

test('a rejection whose donor changed during the redemption is not shown', async () => {
  const { share, webhook, provider, seedSubject } = identitySetup()
  await share()
  await webhook(rejected)
  provider.redeem = async () => {
    seedSubject('s1', { donor: otherShop })
    return { kind: 'rejected', message: 'Token has expired', providerCode: null }
  }
  await expect(share()).rejects.toMatchObject({ code: 'ERR_SHARE_TOKEN_REJECTED', formerVerdict: null })
})

test.each([
  ['rejected', 'ERR_SHARE_TOKEN_REJECTED', { providerMessage: 'Token has expired' }],
  ['throttled', 'ERR_IDENTITY_UNAVAILABLE', { retryAfterMs: 7_000 }],
  ['misconfigured', 'ERR_IDENTITY_MISCONFIGURED', {}],
] as const)('a rejection uses no token, and the request may be sent again: %s is %s', async (fault, code, fields) => {
  const { share, provider, fails, subject, outcomes, states } = identitySetup()
  fails(fault)
  await expect(share(shop, 'token')).rejects.toMatchObject({ code, ...fields })
  expect(provider.redeemed).toEqual([])
  expect(subject()).toMatchObject({ donor: null, redemptions: 1 })
  expect(outcomes()).toEqual(['started', fault])
  expect(states()).toEqual(['unused'])
  fails(null)
  expect(await share(shop, 'token')).toEqual({ ...begun, reused: true })
})

test('a lost answer without an applicant leaves the redemption open: only after its lease is a token sent again, under another name', async () => {
  const { share, provider, fails, clock, outcomes, redemptions } = identitySetup()
  fails('lost before', 'redeem')
  await expect(share(shop, 'token')).rejects.toThrow(unavailable)
  fails(null)
  await clock.advance(redemptionLeaseMs - 1)
  // Whether its token was used is not known, so it is not answered that it was left alone.
  await expect(share(shop, 'token')).rejects.toThrow(unavailable)
  expect(await share(otherShop, 'theirs')).toEqual({ ...notStarted, reused: false })
  expect(provider.redeemed).toEqual([])
  await clock.advance(1)
  expect(await share(shop, 'token')).toEqual({ ...begun, reused: true })
  expect(provider.calls).toEqual([`redeem ${first}`, `find ${first}`, `find ${first}`, `redeem ${second}`])
  expect(outcomes()).toEqual(['started', 'unknown', 'unknown', 'concurrent', 'absent', 'started', 'redeemed'])
  expect(redemptions()).toEqual([
    [first, shop, 'absent'],
    [second, shop, 'attached'],
  ])
})

test('a request that was suspended beyond the first half minute of its lease sends nothing', async () => {
  const { start, store, provider, clock, outcomes, states } = identitySetup()
  const transaction: Store['transaction'] = async (work) => {
    const done = await store.transaction(work)
    await clock.advance(redemptionLeaseMs - redemptionWindowMs + 1)
    return done
  }
  const redeem = () => Promise.reject(new Error('it was asked to send'))
  const suspended = start({ store: { ...store, transaction }, provider: { ...provider, redeem } })
  await expect(suspended.share(input)).rejects.toThrow(unavailable)
  expect(provider.calls).toEqual([])
  expect(outcomes()).toEqual(['started', 'late'])
  expect(states()).toEqual(['unused'])
})

test('an answer after the webhook that attached the applicant keeps the newer verdict', async () => {
  const { share, during, webhook, subject, outcomes } = identitySetup()
  during('redeem', () => webhook(approved))
  expect(await share()).toEqual({ ...approved, reused: true })
  expect(subject()).toMatchObject({ donor: shop, review: approved })
  expect(outcomes()).toEqual(['started', 'reported', 'redeemed'])
})

test('an owner that changes with every round is 503 after four rounds, and no token is used', async () => {
  const { start, store, provider, outcomes, ids } = identitySetup()
  const transaction: Store['transaction'] = (work) =>
    store.transaction((tx) => {
      const findAddressOwner = async () => ({ accountId: ids.next(), proved: false })
      return work({ ...tx, identityAccounts: { ...tx.identityAccounts, findAddressOwner } })
    })
  await expect(start({ store: { ...store, transaction } }).share(input)).rejects.toThrow(unavailable)
  expect(outcomes()).toEqual(['exhausted'])
  expect(provider.calls).toEqual([])
})

/** docs/interface.md 4.2: the statements of a share do not reveal whether there is an account. */
test.each([
  ['a first share', 0],
  ['a share of what is in flight', 1],
  ['a retry after RED', 2],
])('%s sends the same statements whether or not an account exists, carried or proved', async (_, before) => {
  const sent: string[] = []
  for (const account of ['none', 'carried', 'proved']) {
    const { start, store, share, register, proveAs, webhook, getSubject } = identitySetup()
    const accountId = account === 'none' ? null : await register()
    if (accountId !== null && account === 'proved') await proveAs(accountId, email)
    if (before > 0) await share()
    if (before > 1) await webhook(rejected, { name: `pi:${(await getSubject()).id}:1` })
    const statements: string[] = []
    const noting = <T extends object>(part: T): T =>
      new Proxy(part, {
        get(target, name) {
          if (typeof name === 'string') statements.push(name)
          return Reflect.get(target, name)
        },
      })
    const transaction: Store['transaction'] = (work) =>
      store.transaction((tx) => {
        statements.push('transaction')
        const parts = { identity: noting(tx.identity), identityAccounts: noting(tx.identityAccounts) }
        return work({ ...tx, ...parts })
      })
    await start({ store: { ...store, transaction } }).share({ ...input, shareToken: 'measured' })
    sent.push(statements.join(' '))
  }
  expect(sent[1]).toBe(sent[0])
  // A proof makes the subject, and gives its owner; a first share of it writes that once more.
  expect(sent[2]).toBe(sent[0])
})

const bytes = (text: string) => new TextEncoder().encode(text)
const parse = (value: unknown) => parseShareRequest(bytes(JSON.stringify(value)))
const token = '_act-jwt-eyJhbGciOiJub25lIn0.x/+=&?%20 y'

test('reads the address in its normal form and the token verbatim', () => {
  const body = { email: 'User@BÜCHER.example', kycShareToken: token, more: 1 }
  expect(parse(body)).toEqual({ email: 'user@xn--bcher-kva.example', shareToken: token })
})

test('accepts the longest token and rejects one character more', () => {
  const email = 'user@example.com'
  const { kycShareToken: mostTokenLength } = shareRequestLimits
  expect(parse({ email, kycShareToken: 'x'.repeat(mostTokenLength) }).shareToken).toHaveLength(mostTokenLength)
  expect(() => parse({ email, kycShareToken: 'x'.repeat(mostTokenLength + 1) })).toThrow(/longer than 4096/)
})

test('measures a token in its URL-encoded form, so no accepted token is too long for the provider', () => {
  const email = 'user@example.com'
  const [two, three] = [`${'ü'.repeat(682)}xxxx`, `${'\u{1f600}'.repeat(341)}xxxx`]
  for (const kycShareToken of [`${'%'.repeat(1_365)}x`, `${'~'.repeat(1_365)}x`, two, three]) {
    expect(new URL(`http://x/?${new URLSearchParams({ t: kycShareToken })}`).search).toHaveLength(4_099)
    expect(parse({ email, kycShareToken }).shareToken).toBe(kycShareToken)
    expect(() => parse({ email, kycShareToken: `${kycShareToken}x` })).toThrow(/longer than 4096 bytes in a URL/)
  }
})

test('rejects a token that is not well-formed Unicode, because it could not be passed on verbatim', () => {
  for (const token of ['\\ud800', 'x\\udc00y', '\\udc00\\ud800'])
    expect(() => parseShareRequest(bytes(`{"email":"user@example.com","kycShareToken":"${token}"}`))).toThrow(
      /well-formed Unicode/,
    )
})

test.each([
  ['an empty body', ''],
  ['no JSON', '{'],
  ['null', 'null'],
  ['a byte order mark', '\ufeff{"email":"user@example.com","kycShareToken":"t"}'],
  ['33 levels', `{"email":"user@example.com","kycShareToken":"t","a":${'['.repeat(32)}${']'.repeat(32)}}`],
  ['an address twice', '{"email":"a@example.com","email":"b@example.com","kycShareToken":"t"}'],
  ['a token twice, once in escapes', '{"email":"a@example.com","kycShareToken":"t","kycShareToke\\u006e":"u"}'],
  ['an address that is no text', '{"email":{"x":1},"kycShareToken":"t"}'],
  ['an address that is none', '{"email":"canary@","kycShareToken":"t"}'],
  ['a token that is no text', '{"email":"user@example.com","kycShareToken":1}'],
  ['fields of the prototype alone', '{"__proto__":{"email":"user@example.com","kycShareToken":"canary"}}'],
])('rejects %s, and repeats no value', (_, text) => {
  expect(() => parseShareRequest(bytes(text))).toThrow(InvalidShareRequestError)
  expect(() => parseShareRequest(bytes(text))).not.toThrow(/canary/)
})

test('rejects bytes that are not UTF-8', () => {
  const body = Buffer.concat([bytes('{"email":"user@example.com","kycShareToken":"'), Buffer.from([0xff]), bytes('"}')])
  expect(() => parseShareRequest(body)).toThrow(InvalidShareRequestError)
})
