/** Opens the operators' pages of the reference server. Source: docs/decisions/operators.md. @module */
import type { Console, ConsoleTools } from '@payment-integration/console'
import type { Service } from '@payment-integration/core'
import type { Logger } from '@payment-integration/core/ports'
import type { Config } from '../config/config.js'
import { describeConfig } from '../config/describe-config.js'
import { createFetch } from '../internal/outgoing.js'
import { createSourceReader } from '../limits/source.js'
import { describeError } from '../logging/describe-error.js'

/** The parts that the pages are opened on. */
export interface OpenConsoleDeps {
  readonly service: Service
  readonly logger: Logger
  readonly tools: ConsoleTools
}

/** Opens the pages. With `consoleUrl` operators sign in, and their sources are those of the rate limits. */
export async function openConsole(config: Config, { service, logger, tools }: OpenConsoleDeps): Promise<Console> {
  // Loaded here: a server without the pages starts sooner.
  const { createConsole } = await import('@payment-integration/console')
  const { consoleUrl, environment, limits } = config
  const { sourceOf } = createSourceReader(limits.trustedProxies)
  return createConsole({
    service,
    config: describeConfig(config),
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
