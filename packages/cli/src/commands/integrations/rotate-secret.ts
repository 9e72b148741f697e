/** `payment-integration integrations rotate-secret` for the API secret. @module */
import type { ExitCode, Io } from '../../io.js'
import { duration } from '../../output/figures.js'
import { shownOnce } from '../../output/shown-once.js'
import { type OperateOptions, withService } from '../with-service.js'

/** Options of {@link rotateSecret}. */
export interface RotateSecretOptions extends OperateOptions {
  /** How long the previous secret stays valid, in milliseconds. @default 24 hours */
  readonly graceMs?: number | undefined
}

/** Default of {@link RotateSecretOptions.graceMs}: a day to bring the new secret to every machine. */
export const defaultGraceMs = 86_400_000

/**
 * Issues a new API secret and prints it once.
 * The previous one stays valid for the grace time; without one, a running server may accept it for a quarter of a
 * second (docs/decisions/authentication-cache.md).
 * @throws IntegrationError `ERR_INTEGRATION_NOT_FOUND`.
 */
export async function rotateSecret(address: string, options: RotateSecretOptions, io: Io): Promise<ExitCode> {
  const { graceMs = defaultGraceMs } = options
  return withService(options, io, async ({ integrations }, report) => {
    const event = { event: 'integration.api_secret_rotated', address, graceMs }
    report({ ...event, ...(await integrations.rotateApiSecret(address, { graceMs })) }, ({ apiSecret }) => [
      `API secret  ${apiSecret}`,
      `${shownOnce('It is')} The previous one ${graceMs === 0 ? 'ends within a quarter of a second' : `stays valid for ${duration(graceMs)}`}.`,
    ])
  })
}
