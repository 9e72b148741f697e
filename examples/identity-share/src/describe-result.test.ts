import { expect, test } from 'vitest'
import { describeResult } from './describe-result.js'

const response = {
  ...{ reviewStatus: 'completed', reviewAnswer: null, rejectType: null, rejectLabels: [] },
  reused: false,
}
const facts = { redeemed: false, response }
const labels = ['BAD_SELFIE', 'FORGERY']

test.each([
  [{ kind: 'approved', ...facts }, /^Approved[.]$/],
  [{ kind: 'rejected', canRetry: true, labels, ...facts }, /^Rejected [(]BAD_SELFIE, FORGERY[)].*run this again/],
  [{ kind: 'rejected', canRetry: false, labels, ...facts }, /^Rejected [(]BAD_SELFIE, FORGERY[)], .*final/],
  [{ kind: 'in_flight', status: 'onHold', ...facts }, /^No verdict yet [(]onHold[)]/],
  [{ kind: 'not_started', ...facts }, /^Another request/],
  [{ kind: 'unknown', ...facts }, /^No approval: .*completed/],
] as const)('%j is told in one sentence', (result, sentence) => {
  expect(describeResult(result)).toMatch(sentence)
})
