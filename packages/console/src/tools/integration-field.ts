/** Reads the integration that a tool's form names. @module */
import type { IntegrationView } from '@payment-integration/core'
import type { ActInput } from '../acts/act.js'
import { ActError } from '../acts/act-error.js'
import { findIntegration } from '../find-integration.js'

/** The integration of the field `integration`. @throws ActError When there is none. */
export async function integrationOf({
  fields,
  service,
}: Pick<ActInput, 'fields' | 'service'>): Promise<IntegrationView> {
  const found = await findIntegration(service.integrations, fields['integration'] ?? '')
  if (found === null) throw new ActError('Choose an integration. Without one, create it first.')
  return found
}

/** A tool that the host gave. @throws ActError When it gave none. */
export function givenTool<Tool>(tool: Tool | undefined): Tool {
  if (tool === undefined) throw new ActError('This server does not offer the tool.')
  return tool
}
