import { expect, test } from 'vitest'
import { describeResult } from './describe-result.js'

const response = {
  ...{ reviewStatus: 'completed', reviewAnswer: null, rejectType: null, rejectLabels: [] },
  reused: false,
}
const facts = { redeemed: false, response }
const rejected = (rejectType: 'RETRY' | 'FINAL' | null) => ({ redeemed: false, response: { ...response, rejectType } })
const labels = ['BAD_SELFIE', 'FORGERY']

test.each([
  [{ kind: 'approved', ...facts }, /^Approved[.]$/],
  [
    { kind: 'rejected', canRetry: true, labels, ...rejected('RETRY') },
    /^Rejected [(]BAD_SELFIE, FORGERY[)].*run this again/,
  ],
  [
    { kind: 'rejected', canRetry: false, labels, ...rejected(null) },
    /^Rejected [(]BAD_SELFIE, FORGERY[)].*does not say.*CORRECTED=yes/,
  ],
  [{ kind: 'rejected', canRetry: false, labels, ...rejected('FINAL') }, /^Rejected [(]BAD_SELFIE, FORGERY[)], .*final/],
  [{ kind: 'rejected_before', rejectType: 'RETRY', message: 'for you' }, /^Rejected[.].*CORRECTED=yes/],
  [{ kind: 'rejected_before', rejectType: 'FINAL', message: 'for you' }, /^Rejected, .*final/],
  [{ kind: 'rejected_before', rejectType: null, message: 'for you' }, /^Rejected.*does not say.*CORRECTED=yes/],
  [{ kind: 'in_flight', status: 'onHold', ...facts }, /^No verdict yet [(]onHold[)]/],
  [{ kind: 'not_started', ...facts }, /^Another request/],
  [{ kind: 'unknown', ...facts }, /^No approval: .*completed/],
] as const)('%j is described in one sentence', (result, sentence) => {
  expect(describeResult(result)).toMatch(sentence)
})
