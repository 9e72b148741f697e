/** What a request carries through the app. @module */
import type { IncomingMessage } from 'node:http'
import type { Caller, LegacyCaller } from '@payment-integration/core'

/** Types of the Hono context. */
export interface AppEnv {
  /** `incoming` is there when the app runs on Node's HTTP server: the fetch request hides repeated headers. */
  Bindings: { readonly incoming?: IncomingMessage }
  /**
   * `caller` is set below the integration prefix, `legacy` on the paths of the legacy API, both after authentication
   * alone.
   */
  Variables: { caller: Caller; legacy?: LegacyCaller }
}
