/** Opens the integrators' pages of a server. @module */
import type { Portal } from '@payment-integration/console'
import type { Service } from '@payment-integration/core'
import type { Logger } from '@payment-integration/core/ports'
import type { Config } from '../config/config.js'
import type { RequestLimits } from '../limits/request-limits.js'
import { createSourceReader } from '../limits/source.js'
import { describeError } from '../logging/describe-error.js'

/** The portal of a configuration; null where it is off. */
export async function openPortal(
  config: Config,
  { service, logger, limits }: { service: Service; logger: Logger; limits: RequestLimits | undefined },
): Promise<Portal | null> {
  if (config.portal === null) return null
  // Loaded here: a server without the pages starts sooner.
  const { createPortal } = await import('@payment-integration/console')
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
