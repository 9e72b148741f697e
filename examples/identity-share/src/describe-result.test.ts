import { expect, test } from 'vitest'
import { describeResult } from './describe-result.js'

const review = { reviewStatus: 'completed', reviewAnswer: null, rejectType: null, rejectLabels: [] }
const response = { ...review, reused: false }
const facts = { redeemed: false, response }
const rejected = (rejectType: 'RETRY' | 'FINAL' | null) => ({ redeemed: false, response: { ...response, rejectType } })
const labels = ['A', 'B']

const noRetry = { kind: 'rejected', canRetry: false, labels } as const

test.each([
  [{ kind: 'approved', ...facts }, /^Approved[.]$/],
  [{ kind: 'rejected', canRetry: true, labels, ...rejected('RETRY') }, /^Rejected [(]A, B[)].*run this again/],
  [{ ...noRetry, ...rejected(null) }, /^Rejected [(]A, B[)].*does not say.*CORRECTED=yes/],
  [{ ...noRetry, ...rejected('FINAL') }, /^Rejected [(]A, B[)], .*final/],
  [{ kind: 'rejected_before', rejectType: 'RETRY', message: 'for you' }, /^Rejected[.].*CORRECTED=yes/],
  [{ kind: 'rejected_before', rejectType: 'FINAL', message: 'for you' }, /^Rejected, .*final/],
  [{ kind: 'rejected_before', rejectType: null, message: 'for you' }, /^Rejected.*does not say.*CORRECTED=yes/],
  [{ kind: 'in_flight', status: 'onHold', ...facts }, /^No verdict yet [(]onHold[)]/],
  [{ kind: 'not_started', ...facts }, /^Another request/],
  [{ kind: 'unknown', ...facts }, /^No approval: .*completed/],
] as const)('%j is described in one sentence', (result, sentence) => {
  expect(describeResult(result)).toMatch(sentence)
})
