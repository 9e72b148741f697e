/** Opens the pages of operators and integrators. Source: docs/decisions/operators.md and portal.md. @module */
import type { Console, ConsoleTools, Portal } from '@payment-integration/console'
import type { Service } from '@payment-integration/core'
import { loadPackage } from '@payment-integration/core/internal'
import type { Logger } from '@payment-integration/core/ports'
import type { Config } from '../config/config.js'
import { createFetch } from '../internal/outgoing.js'
import type { RequestLimits } from '../limits/request-limits.js'
import { createSourceReader } from '../limits/request-limits.js'
import { describeError } from '../logging/pino-logger.js'

interface PagesDeps {
  readonly service: Service
  readonly logger: Logger
}

/** Loaded here: a server without pages starts sooner. */
function loadConsole(setting: 'PI_CONSOLE' | 'PI_PORTAL') {
  return loadPackage('@payment-integration/console', setting, () => import('@payment-integration/console'))
}

/** Opens the console. With `consoleUrl` operators sign in, and their sources are those of the rate limits. */
export async function openConsole(
  config: Config,
  { service, logger, tools }: PagesDeps & { readonly tools: ConsoleTools },
): Promise<Console> {
  const { createConsole } = await loadConsole('PI_CONSOLE')
  const { consoleUrl, environment, limits } = config
  const { sourceOf } = createSourceReader(limits.trustedProxies)
  return createConsole({
    service,
    settings: config.settings,
    environment,
    tools,
    onError: (error) => logger.error({ ...describeError(error) }, 'A page of the console failed.'),
    signIn:
      consoleUrl === null
        ? undefined
        : {
            publicUrl: consoleUrl,
            oidc: config.oidc === null ? undefined : { ...config.oidc, fetch: createFetch() },
            sourceOf: ({ headers }, bindings) =>
              sourceOf(bindings.incoming?.socket.remoteAddress, headers.get('x-forwarded-for')),
          },
  })
}

/** Opens the portal; null where it is off. */
export async function openPortal(
  config: Config,
  { service, logger, limits }: PagesDeps & { readonly limits: RequestLimits | undefined },
): Promise<Portal | null> {
  if (config.portal === null) return null
  const { createPortal } = await loadConsole('PI_PORTAL')
  const { publicUrl } = config.portal
  const { sourceOf } = createSourceReader(config.limits.trustedProxies)
  return createPortal({
    service,
    environment: config.environment,
    countCall: limits?.countCall,
    signIn: {
      publicUrl: publicUrl ?? undefined,
      sourceOf: (request, { incoming }) =>
        sourceOf(incoming?.socket.remoteAddress, request.headers.get('x-forwarded-for')),
    },
    onError: (error) => logger.error({ ...describeError(error) }, 'A page of the portal failed.'),
  })
}
