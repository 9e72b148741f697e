/** Cuts a list that is read whole into pages. @module */
import type { Given } from '../filters.js'
import { hrefOf } from '../view/parts.js'

/** Rows on a page. */
export const pageSize = 50

/** The rows after an address, which are in its order. */
export function partOf<Row extends { readonly address: string }>(all: readonly Row[], given: Given, path: string) {
  const rest = all.filter(({ address }) => address > (given['after'] ?? ''))
  const shown = rest.slice(0, pageSize)
  return { shown, next: rest.length > pageSize ? hrefOf(path, { after: shown.at(-1)?.address }) : null }
}
