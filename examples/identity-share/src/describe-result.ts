/** Describes a shared verification for the user. @module */
import type { ShareResult } from '@payment-integration/client'
import type { RejectedBefore } from './ask-verdict.js'

/** The status in one sentence, and the next step. */
export function describeResult(result: ShareResult | RejectedBefore): string {
  switch (result.kind) {
    case 'approved':
      return 'Approved.'
    case 'rejected':
      return `Rejected (${result.labels.join(', ')})${nextStep(result.response.rejectType)}`
    case 'rejected_before':
      return `Rejected${nextStep(result.rejectType)}`
    case 'in_flight':
      return `No verdict yet (${result.status}). Run this again in some minutes.`
    case 'not_started':
      return 'Another request is sharing for this user. Run this again in a moment.'
    case 'unknown':
      return `No approval: this version does not know ${result.response.reviewStatus}.`
  }
}

function nextStep(rejectType: string | null): string {
  if (rejectType === 'FINAL') return ', and that is final.'
  if (rejectType === 'RETRY') return '. Correct it with the provider, then run this again with CORRECTED=yes.'
  return '. The provider does not say whether a correction helps. If you correct it there, run this again with CORRECTED=yes.'
}
