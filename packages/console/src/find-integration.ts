/** Finds one integration by its address. @module */
import type { IntegrationCommands, IntegrationView } from '@payment-integration/core'
import { IntegrationError } from '@payment-integration/core'

/** The integration of a text that may be its address, in any case; null: there is none. */
export async function findIntegration(
  integrations: Pick<IntegrationCommands, 'get'>,
  text: string,
): Promise<IntegrationView | null> {
  if (!/^0x[0-9a-f]{40}$/i.test(text)) return null
  try {
    return await integrations.get(text)
  } catch (error) {
    if (error instanceof IntegrationError && error.code === 'ERR_INTEGRATION_NOT_FOUND') return null
    throw error
  }
}
