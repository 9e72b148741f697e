import { expect, test } from 'vitest'
import { first, identitySetup } from '../../test/support/identity-setup.js'
import { recordingLogger } from '../../test/support/recording-logger.js'
import { scriptedProvider } from '../../test/support/scripted-provider.js'
import type { IdentityProvider } from '../ports/identity.js'
import { createService } from '../service.js'
import { createCheckedProvider, stopWithSignal } from './checked-provider.js'

const begun = { reviewStatus: 'init', reviewAnswer: null, rejectType: null, rejectLabels: [] }
const applicant = { applicantId: 'a', review: null }
const unknown = { kind: 'unknown', reason: 'ERR_PROVIDER_ANSWER' }
const unavailable = { kind: 'unavailable', reason: 'ERR_PROVIDER_ANSWER' }
const request = { shareToken: 'canary-token', externalUserId: first, sendBy: 0 }

/** A checked provider with one answer to all calls; an error rejects them. */
function answering(answer: unknown) {
  const logger = recordingLogger()
  const call = async () => {
    if (answer instanceof Error) throw answer
    return answer
  }
  const provider = { redeem: call, find: call, review: call } as unknown as IdentityProvider
  return { logger, checked: createCheckedProvider(provider, logger) }
}

test.each([
  { kind: 'redeemed', applicant },
  { kind: 'redeemed', applicant: { ...applicant, review: begun, reviewedAt: 1, createdAt: 2, levelName: 'basic' } },
  { kind: 'redeemed', applicant: { ...applicant, reviewedAt: null, createdAt: null, levelName: null } },
  { kind: 'rejected', message: 'expired', providerCode: null },
  { kind: 'misconfigured', reason: 'signature', facts: { status: 401 } },
  { kind: 'throttled', retryAfterMs: 1_000 },
  { kind: 'unsent' },
  { kind: 'unknown', reason: 'no answer' },
])('a valid answer of the provider passes unchanged to a redemption: %j', async (answer) => {
  const { logger, checked } = answering(answer)
  expect(await checked.redeem(request)).toBe(answer)
  expect(logger.lines).toEqual([])
})

test.each([
  { kind: 'answer', value: null },
  { kind: 'answer', value: { ...applicant, review: begun, reviewedAt: null } },
  { kind: 'misconfigured', reason: 'signature' },
  { kind: 'throttled', retryAfterMs: null },
  { kind: 'unavailable', reason: 'no answer' },
])('a valid answer of the provider passes unchanged to a look-up and a poll: %j', async (answer) => {
  const { logger, checked } = answering(answer)
  expect([await checked.find(first), await checked.review('a')]).toEqual([answer, answer])
  expect(logger.lines).toEqual([])
})

/** Answers that are none, of JavaScript hosts and of providers of another API. */
const unreadable: [string, answer: unknown, fault?: string][] = [
  ['nothing', undefined],
  ['null', null],
  ['a text', 'redeemed'],
  ['an applicant alone, as identity-sumsub answers', { ...applicant, externalUserId: first, review: begun }],
  ['no kind', { applicant }],
  ['an unknown kind', { kind: 'done', applicant }],
  ['the name of an inherited method', { kind: 'toString' }],
  ['an applicant without an id', { kind: 'redeemed', applicant: { review: null } }],
  ['an applicant with a blank id', { kind: 'redeemed', applicant: { ...applicant, applicantId: '' } }],
  ['an applicant without a review', { kind: 'redeemed', applicant: { applicantId: 'a' } }],
  ['an unknown status', { kind: 'redeemed', applicant: { ...applicant, review: { ...begun, reviewStatus: 'done' } } }],
  ['an unknown answer', { kind: 'redeemed', applicant: { ...applicant, review: { ...begun, reviewAnswer: 'BLUE' } } }],
  ['labels of numbers', { kind: 'redeemed', applicant: { ...applicant, review: { ...begun, rejectLabels: [1] } } }],
  ['a date as a string', { kind: 'redeemed', applicant: { ...applicant, createdAt: '2026-01-01' } }],
  ['a date that is not a number', { kind: 'redeemed', applicant: { ...applicant, reviewedAt: Number.NaN } }],
  ['a rejection without a message', { kind: 'rejected', providerCode: null }],
  ['a rejection without a reason', { kind: 'misconfigured' }],
  ['a call that rejects: the log has no text of the error', new TypeError('canary-token is invalid'), 'TypeError'],
]

test.each(unreadable)('an unreadable answer is logged once, and never applied: %s', async (...given) => {
  const [, answer, fault = 'an unknown shape'] = given
  const { logger, checked } = answering(answer)
  expect(await checked.redeem(request)).toEqual(unknown)
  expect(logger.lines).toMatchObject([{ level: 'error', fields: { call: 'redeem', fault } }])
  expect([await checked.find(first), await checked.review('a')]).toEqual([unavailable, unavailable])
  expect(logger.lines.map(({ fields }) => fields['fault'])).toEqual([fault, fault, fault])
  expect(JSON.stringify(logger.lines)).not.toContain('canary')
})

const { redeem, find, review } = scriptedProvider()
const partial = [{}, { redeem, find }, { redeem, review }, { find, review }, { redeem, find, review: 1 }]
test.each([null, undefined, ...partial])('an object without the three methods is no provider: %o', (provider) => {
  const { start, deps } = identitySetup()
  const identity = { provider: provider as unknown as IdentityProvider }
  expect(() => createCheckedProvider(identity.provider, recordingLogger())).toThrow(TypeError)
  if (provider !== undefined) expect(() => start(identity)).toThrow(TypeError)
  const sender = { post: () => Promise.reject(new Error('unused')) }
  expect(() => createService({ store: deps.store, masterKey: deps.masterKey, sender, identity })).toThrow(TypeError)
})

const stopped = { kind: 'unavailable', reason: 'ERR_STOPPING' }

test('a poll in flight ends when the signal aborts, and the next one is not sent', async () => {
  const provider = scriptedProvider()
  provider.pause = () => new Promise(() => undefined)
  const stopping = new AbortController()
  const polled = stopWithSignal(provider, stopping.signal)
  const inFlight = [polled.review('a'), polled.find('b')]
  stopping.abort()
  expect(await Promise.all(inFlight)).toEqual([stopped, stopped])
  expect(await polled.review('c')).toEqual(stopped)
  expect(provider.calls).toEqual(['review a', 'find b'])
})
