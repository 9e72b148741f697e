/** Types of the values that a request carries through the app. @module */
import type { IncomingMessage } from 'node:http'
import type { Caller, LegacyCaller } from '@payment-integration/core'

/** Types of the Hono context. */
export interface AppEnv {
  /** `incoming` is set on Node's HTTP server. It shows repeated headers, which the fetch request hides. */
  Bindings: { readonly incoming?: IncomingMessage }
  /**
   * `requestId` is set first. Authentication sets `caller` below the integration prefix, and `legacy` on paths of the
   * legacy API.
   */
  Variables: { requestId: string; caller: Caller; legacy?: LegacyCaller }
}
