/** What a user is told about a shared verification. @module */
import type { ShareResult } from '@payment-integration/client'

/** One sentence, and what to do. */
export function describeResult(result: ShareResult): string {
  switch (result.kind) {
    case 'approved':
      return 'Approved.'
    case 'rejected':
      return result.canRetry
        ? `Rejected (${result.labels.join(', ')}). Correct it with the provider, then run this again.`
        : `Rejected (${result.labels.join(', ')}), and that is final.`
    case 'in_flight':
      return `No verdict yet (${result.status}). Run this again in some minutes.`
    case 'not_started':
      return 'Another request is sharing for this user. Run this again in a moment.'
    case 'unknown':
      return `No approval: this version does not know ${result.response.reviewStatus}.`
  }
}
