import { describe, expect, test } from 'vitest'
import { shareResponse } from '../../test/share-fixtures.js'
import { toShareResult } from './share.js'

const answers = ['GREEN', 'RED', null, 'YELLOW', ''] as const
const labels = ['BAD_SELFIE', 'FORGERY']

describe('the kind of a result', () => {
  test.each<[Parameters<typeof toShareResult>[0]['reviewStatus'], string, object]>([
    ['not_started', 'not_started', {}],
    ['init', 'in_flight', { status: 'init' }],
    ['pending', 'in_flight', { status: 'pending' }],
    ['prechecked', 'in_flight', { status: 'prechecked' }],
    ['onHold', 'in_flight', { status: 'onHold' }],
    ['queued', 'unknown', {}],
    ['awaitingService', 'unknown', {}],
    ['Completed', 'unknown', {}],
    ['', 'unknown', {}],
    ['toString', 'unknown', {}],
  ])('of %j is %s for every reviewAnswer', (reviewStatus, kind, more) => {
    for (const reviewAnswer of answers) {
      const response = { ...shareResponse(), reviewStatus, reviewAnswer }
      expect(toShareResult(response)).toEqual({ kind, ...more, redeemed: true, response })
    }
  })

  test.each([
    ['GREEN', 'approved'],
    ['RED', 'rejected'],
    [null, 'unknown'],
    ['YELLOW', 'unknown'],
    ['green', 'unknown'],
    ['', 'unknown'],
  ])('of completed with %j is %s', (reviewAnswer, kind) => {
    expect(toShareResult({ ...shareResponse({ reviewStatus: 'completed' }), reviewAnswer }).kind).toBe(kind)
  })
})

test.each([
  ['RETRY', true],
  ['FINAL', false],
  [null, false],
  ['EXTERNAL', false],
])('of a rejection of type %j, canRetry is %j', (rejectType, canRetry) => {
  const response = {
    ...shareResponse({ reviewStatus: 'completed', reviewAnswer: 'RED', rejectLabels: labels, reused: false }),
    rejectType,
  }
  expect(toShareResult(response)).toEqual({ kind: 'rejected', canRetry, labels, redeemed: false, response })
})
