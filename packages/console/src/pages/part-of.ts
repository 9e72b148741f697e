/** Reads lists page by page. @module */
import type { Queries } from '@payment-integration/core'
import type { Given } from '../filters.js'
import { hrefOf } from '../view/parts.js'

/** Rows on a page. */
export const pageSize = 50

/** Integrations that a form names. */
const mostChoices = 200

/** The integrations that a form names. */
export const integrationChoices = (reads: Pick<Queries, 'integrations'>) => reads.integrations({ limit: mostChoices })

/** A page of integrations, in the order of their addresses. */
export async function integrationsAfter(
  reads: Pick<Queries, 'integrations'>,
  given: Given,
  path: string,
  { size = pageSize, isFailing = false }: { readonly size?: number; readonly isFailing?: boolean } = {},
) {
  const rows = await reads.integrations({ afterAddress: given['after'], isFailing, limit: size + 1 })
  const shown = rows.slice(0, size)
  const after = { health: isFailing ? 'failing' : undefined, after: shown.at(-1)?.address }
  return { shown, next: rows.length > size ? hrefOf(path, after) : null }
}
