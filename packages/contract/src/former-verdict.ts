/** The former verdict in the message of a 422. Source: docs/interface.md 2.5, 7; docs/decisions/identity.md. @module */
import type { ShareResponse } from './identity.js'

/** The part of a rejection that says what to do next. */
export interface FormerVerdict {
  /** `RETRY`: correct it and share a fresh token. `FINAL`: stop. Null: the provider did not say. */
  readonly rejectType: ShareResponse['rejectType']
}

const beginning = 'The verification shared before was rejected: RED'
const maxLabelsLength = 1_000

/**
 * The message of a 422: the description of the provider, verbatim, then the former verdict in one sentence. Labels are
 * whole and verbatim, 1000 characters of them at most; the others are counted.
 * @param former - What the caller shared before and the provider rejected; null when there is none.
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
  return `${before}${beginning}${type}.${labelsText(former.rejectLabels)}`
}

/**
 * Reads the former verdict from the message of a 422; null when it states none. Exact for every message of {@link
 * shareRejectedMessage}, whatever the labels are, unless the provider's own description holds the sentence.
 */
export function readFormerVerdict(message: string): FormerVerdict | null {
  const at = message.lastIndexOf(beginning)
  if (at === -1) return null
  const rest = message.slice(at + beginning.length)
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
    // A label with the sentence in it would be read in place of the sentence.
    if (length > maxLabelsLength || label.includes(beginning)) break
    shown.push(label)
  }
  const left = labels.length - shown.length
  if (shown.length === 0) return ` Labels: ${left}, each too long to be shown.`
  return ` Labels: ${shown.join(', ')}${left === 0 ? '' : ` and ${left} more`}.`
}
