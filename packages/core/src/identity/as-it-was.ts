/** Whether a verification is as it was when the provider was asked about it. @module */
import type { Verification } from '../ports/store-verifications.js'
import { isEqual } from './order-news.js'

/** What news of an applicant change. */
type Known = Pick<Verification, 'review' | 'reviewedAt' | 'doubt' | 'missing' | 'presence'>

/** Whether nothing was heard of the applicant since. */
export function isAsItWas(found: Known, before: Known): boolean {
  return (
    factsOf(found) === factsOf(before) && isEqual(found.review, before.review) && isEqual(found.doubt, before.doubt)
  )
}

function factsOf({ reviewedAt, missing, presence }: Known): string {
  return JSON.stringify([
    reviewedAt,
    ...[missing?.since, missing?.told, missing?.confirmed],
    ...[presence?.isActive, presence?.at],
  ])
}
