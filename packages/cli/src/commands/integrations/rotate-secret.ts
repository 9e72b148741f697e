/** `payment-integration integrations rotate-secret`. @module */
import { UsageError } from '../../errors.js'
import type { ExitCode, Io } from '../../io.js'
import { shownOnce } from '../../output/shown-once.js'
import { type OperateOptions, withService } from '../with-service.js'

/** Options of {@link rotateSecret}. */
export interface RotateSecretOptions extends OperateOptions {
  /** Replace the webhook signing secret instead of the API secret. @default false */
  readonly signing?: boolean | undefined
  /** How long the previous API secret stays valid, in milliseconds. @default 24 hours */
  readonly graceMs?: number | undefined
}

/** Default of {@link RotateSecretOptions.graceMs}: a day to bring the new secret to every machine. */
export const defaultGraceMs = 86_400_000

/**
 * Issues a new secret and prints it once.
 * The previous API secret stays valid for the grace time; without one, a running server may accept it for a quarter of a second
 * (docs/decisions/authentication-cache.md). A new signing secret signs every later attempt at once; receivers
 * accept several secrets, so give them the new one beside the old one.
 * @throws UsageError `ERR_USAGE` for a grace time with `signing`; IntegrationError `ERR_INTEGRATION_NOT_FOUND`.
 */
export async function rotateSecret(address: string, options: RotateSecretOptions, io: Io): Promise<ExitCode> {
  const { signing = false, graceMs = defaultGraceMs } = options
  if (signing && options.graceMs !== undefined)
    throw new UsageError('--grace is for the API secret; a signing secret changes at once. Leave one of both out.')
  return withService(options, io, async ({ integrations }, report) => {
    if (signing) {
      const event = { event: 'integration.signing_secret_rotated', address }
      report({ ...event, ...(await integrations.rotateSigningSecret(address)) }, ({ signingSecret }) => [
        `Webhook secret  ${signingSecret}`,
        `${shownOnce('It is')} Deliveries are signed with it from now on.`,
      ])
      return
    }
    const event = { event: 'integration.api_secret_rotated', address, graceMs }
    report({ ...event, ...(await integrations.rotateApiSecret(address, { graceMs })) }, ({ apiSecret }) => [
      `API secret  ${apiSecret}`,
      `${shownOnce('It is')} The previous one ${graceMs === 0 ? 'ends within a quarter of a second' : `stays valid for ${hours(graceMs)}`}.`,
    ])
  })
}

/** For example `24 h`. */
function hours(ms: number): string {
  return `${Math.round(ms / 36_000) / 100} h`
}
