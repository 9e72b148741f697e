/** Schemas of sharing, and the former verdict of a 422. Source: docs/interface.md 2.5, 4.2, 7. @module */
import * as z from 'zod/mini'
import { object, openEnum } from './primitives.js'

/** Every review status that the share endpoint answers. Source: docs/interface.md 2.5. */
export const reviewStatuses = ['not_started', 'init', 'pending', 'prechecked', 'onHold', 'completed'] as const
export type ReviewStatus = (typeof reviewStatuses)[number]

/**
 * Longest texts in a share request, in characters. The service accepts an e-mail address of 254 bytes after
 * normalization. In Unicode form NFD it may have four times as many characters.
 */
export const shareRequestLimits = { email: 1_024, kycShareToken: 4_096 } as const

/**
 * The rough form of an e-mail address: text, `@`, text with a dot, no spaces. IDNA allows other dots between labels.
 * No label may hold a dot, so the pattern needs no backtracking.
 */
export const emailPattern =
  /^[^\s@]+@[^\s@.\u3002\uff0e\uff61]+(?:[.\u3002\uff0e\uff61][^\s@.\u3002\uff0e\uff61]+)+\.?$/

const reviewStatus = z.enum(reviewStatuses)
const reviewAnswer = z.enum(['GREEN', 'RED'])
const rejectType = z.enum(['RETRY', 'FINAL'])
const shareResponseShape = {
  reviewStatus,
  reviewAnswer: z.nullable(reviewAnswer),
  rejectType: z.nullable(rejectType),
  rejectLabels: z.array(z.string()),
  reused: z.boolean(),
}
/** The share answer as a client reads it. */
export const shareResponseSchema = /* @__PURE__ */ object('read', shareResponseShape)
export const shareResponseWriteSchema = /* @__PURE__ */ object('write', shareResponseShape)
/** The answer of the share endpoint. `reused` is true when this request redeemed the token. */
export type ShareResponse = z.infer<typeof shareResponseSchema>

/**
 * The share answer of a possibly newer service: accepts unknown statuses, answers and types. The token may already
 * be redeemed, so an unknown value must not lose the answer.
 */
export const openShareResponseSchema = object('read', {
  ...shareResponseShape,
  reviewStatus: openEnum(reviewStatus),
  reviewAnswer: z.nullable(openEnum(reviewAnswer)),
  rejectType: z.nullable(openEnum(rejectType)),
})
/** The answer of the share endpoint of a possibly newer service. */
export type OpenShareResponse = z.infer<typeof openShareResponseSchema>

/** The part of a rejection that decides the next step. */
export interface FormerVerdict {
  /** `RETRY`: share a fresh token after a correction. `FINAL`: stop. Null: the provider gave no type. */
  readonly rejectType: ShareResponse['rejectType']
}

const sentenceStart = 'The verification shared before was rejected: RED'
const maxLabelsLength = 1_000

/**
 * Formats the message of a 422: the provider's description, verbatim, then the former verdict in one sentence. Labels
 * are whole and verbatim, up to 1000 characters; further ones are counted.
 * Such as `Token is invalid. The verification shared before was rejected: RED, FINAL. Labels: FORGERY.`
 * @param former - The rejected verification that the caller shared before; null when there is none.
 */
export function formatShareRejection(
  description: string,
  former: Pick<ShareResponse, 'rejectType' | 'rejectLabels'> | null,
): string {
  if (former === null) return description
  const type = former.rejectType === null ? '' : `, ${former.rejectType}`
  const end = description === '' || /[.!?]$/.test(description) ? '' : '.'
  const prefix = description === '' ? '' : `${description}${end} `
  return `${prefix}${sentenceStart}${type}.${formatLabels(former.rejectLabels)}`
}

/**
 * Parses the former verdict of a 422 message; null when it has none. Exact for every message of
 * `formatShareRejection` and any labels, unless the provider's own description repeats the sentence.
 * @example
 * import { parseFormerVerdict } from '@payment-integration/contract'
 * parseFormerVerdict('The verification shared before was rejected: RED, FINAL.') // { rejectType: 'FINAL' }
 */
export function parseFormerVerdict(message: string): FormerVerdict | null {
  const at = message.lastIndexOf(sentenceStart)
  if (at === -1) return null
  const afterStart = message.slice(at + sentenceStart.length)
  if (afterStart.startsWith('.')) return { rejectType: null }
  const rejectType = (['RETRY', 'FINAL'] as const).find((type) => afterStart.startsWith(`, ${type}.`))
  return rejectType === undefined ? null : { rejectType }
}

function formatLabels(labels: readonly string[]): string {
  if (labels.length === 0) return ''
  const shown: string[] = []
  let length = 0
  for (const label of labels) {
    length += label.length + ', '.length
    // A label that repeats the sentence would mislead the parser.
    if (length > maxLabelsLength || label.includes(sentenceStart)) break
    shown.push(label)
  }
  const omitted = labels.length - shown.length
  if (shown.length === 0) return ` Labels: ${omitted}, each too long to be shown.`
  return ` Labels: ${shown.join(', ')}${omitted === 0 ? '' : ` and ${omitted} more`}.`
}
