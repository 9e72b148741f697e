/** Which of two things that the provider said is newer, and which is to be doubted. Source: INTERFACE 3. @module */
import type { Review } from '../ports/identity-provider.js'
import { isRejected } from './decide-share.js'

/** A review with the provider's time of it in unix milliseconds; null: it has none. */
export interface DatedNews {
  readonly at: number | null
  readonly review: Review | null
}

/** Negative: the news are older than what is known. Of two at one time the worse one counts, so that the order of arrival never does. */
export function compareNews(news: DatedNews, known: DatedNews): number {
  if (known.at === null || news.at === null) return 1
  if (news.at !== known.at) return news.at - known.at
  const [one, other] = [weightOf(news.review), weightOf(known.review)]
  return one === other ? 0 : one < other ? -1 : 1
}

/** Whether a rejection would turn into an approval that is not shown to be the newer of the two. */
export function isDoubtful(news: DatedNews, known: DatedNews): boolean {
  if (!isRejected(known.review) || !isApproved(news.review)) return false
  return news.at === null || known.at === null || news.at <= known.at
}

/** Whether a verdict became none: news that were late say so too. */
export function turnsBack(before: Review | null, after: Review | null): boolean {
  return before?.reviewStatus === 'completed' && after !== null && after.reviewStatus !== 'completed'
}

/** Whether two reviews say the same. */
export function isEqual(one: Review | null, other: Review | null): boolean {
  return JSON.stringify(fieldsOf(one)) === JSON.stringify(fieldsOf(other))
}

function isApproved(review: Review | null): boolean {
  return review?.reviewStatus === 'completed' && review.reviewAnswer === 'GREEN'
}

/** Text that sorts by how bad a review is. */
function weightOf(review: Review | null): string {
  const weight = isRejected(review) ? 2 : isApproved(review) ? 1 : 0
  return `${weight} ${JSON.stringify(fieldsOf(review))}`
}

function fieldsOf(review: Review | null): readonly unknown[] | null {
  return review && [review.reviewStatus, review.reviewAnswer, review.rejectType, review.rejectLabels]
}
