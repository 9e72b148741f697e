/**
 * Formats and parses the former verdict of a 422. Source: docs/interface.md 2.5, 7; docs/decisions/identity.md.
 * @module
 */
import type { ShareResponse } from './identity.js'

/** The part of a rejection that decides the next step. */
export interface FormerVerdict {
  /** `RETRY`: correct it and share a fresh token. `FINAL`: stop. Null: the provider gave no type. */
  readonly rejectType: ShareResponse['rejectType']
}

const sentenceStart = 'The verification shared before was rejected: RED'
const maxLabelsLength = 1_000

/**
 * Formats the message of a 422: the provider's description, verbatim, then the former verdict in one sentence. Labels
 * are whole and verbatim, up to 1000 characters; further ones are counted.
 * @param former - The rejected verification that the caller shared before; null when there is none.
 * @example shareRejectedMessage('Token is invalid.', { rejectType: 'FINAL', rejectLabels: ['FORGERY'] })
 * // 'Token is invalid. The verification shared before was rejected: RED, FINAL. Labels: FORGERY.'
 */
export function shareRejectedMessage(
  description: string,
  former: Pick<ShareResponse, 'rejectType' | 'rejectLabels'> | null,
): string {
  if (former === null) return description
  const type = former.rejectType === null ? '' : `, ${former.rejectType}`
  const end = description === '' || /[.!?]$/.test(description) ? '' : '.'
  const before = description === '' ? '' : `${description}${end} `
  return `${before}${sentenceStart}${type}.${labelsText(former.rejectLabels)}`
}

/**
 * Parses the former verdict of a 422 message; null when it has none. Exact for every message of
 * {@link shareRejectedMessage} and any labels, unless the provider's own description has the sentence.
 */
export function readFormerVerdict(message: string): FormerVerdict | null {
  const at = message.lastIndexOf(sentenceStart)
  if (at === -1) return null
  const rest = message.slice(at + sentenceStart.length)
  if (rest.startsWith('.')) return { rejectType: null }
  const rejectType = (['RETRY', 'FINAL'] as const).find((type) => rest.startsWith(`, ${type}.`))
  return rejectType === undefined ? null : { rejectType }
}

function labelsText(labels: readonly string[]): string {
  if (labels.length === 0) return ''
  const shown: string[] = []
  let length = 0
  for (const label of labels) {
    length += label.length + ', '.length
    // The parser would take the sentence in a label for the real one.
    if (length > maxLabelsLength || label.includes(sentenceStart)) break
    shown.push(label)
  }
  const omitted = labels.length - shown.length
  if (shown.length === 0) return ` Labels: ${omitted}, each too long to be shown.`
  return ` Labels: ${shown.join(', ')}${omitted === 0 ? '' : ` and ${omitted} more`}.`
}
