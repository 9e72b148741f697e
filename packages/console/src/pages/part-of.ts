/** Reads lists page by page. @module */
import type { ConsoleReads } from '@payment-integration/core/ports'
import type { Given } from '../filters.js'
import { hrefOf } from '../view/parts.js'

/** Rows on a page. */
export const pageSize = 50

/** A page of integrations, in the order of their addresses. */
export async function integrationsAfter(reads: ConsoleReads, given: Given, path: string, size = pageSize) {
  const rows = await reads.integrations({ afterAddress: given['after'], limit: size + 1 })
  const shown = rows.slice(0, size)
  return { shown, next: rows.length > size ? hrefOf(path, { after: shown.at(-1)?.address }) : null }
}
