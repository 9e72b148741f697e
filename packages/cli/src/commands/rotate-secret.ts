/** `payment-integration integrations rotate-secret`, for both secrets. @module */
import { UsageError } from '../errors.js'
import { duration, shownOnce } from '../format.js'
import type { ExitCode, Io } from '../io.js'
import { type OperateOptions, withService } from '../with-service.js'

/** Options of {@link rotateSecret}. */
interface RotateSecretOptions extends OperateOptions {
  /** How long the previous secret stays valid, in milliseconds. @default 24 hours */
  readonly graceMs?: number | undefined
}

/** Default grace time: a day to deploy the new secret everywhere. */
const defaultGraceMs = 86_400_000

/**
 * Issues a new API secret and prints it once. The previous one stays valid for the grace time.
 * A running server may accept it for another quarter of a second: docs/decisions/authentication-cache.md.
 * @throws IntegrationError `ERR_INTEGRATION_NOT_FOUND`.
 */
export async function rotateSecret(address: string, options: RotateSecretOptions, io: Io): Promise<ExitCode> {
  const { graceMs = defaultGraceMs } = options
  return withService(options, io, async ({ integrations }, report) => {
    const event = { event: 'integration.api_secret_rotated', address, graceMs }
    report({ ...event, ...(await integrations.rotateApiSecret(address, { graceMs })) }, ({ apiSecret }) => [
      `API secret  ${apiSecret}`,
      `${shownOnce('It is')} The previous secret ${graceMs === 0 ? 'expires within a quarter of a second' : `stays valid for ${duration(graceMs)}`}.`,
    ])
  })
}

/** Options of {@link rotateSigningSecret}: `signing` and one of the three steps. */
export interface RotateSigningSecretOptions extends RotateSecretOptions {
  readonly signing?: boolean | undefined
  /** Create the next secret, or find the prepared one, and print it. */
  readonly prepare?: boolean | undefined
  /** Sign with the prepared secret. During `graceMs`, rejected deliveries are repeated with the previous one. */
  readonly activate?: boolean | undefined
  /** Delete the prepared secret. */
  readonly abort?: boolean | undefined
}

const steps = `A webhook secret is replaced in two steps, so that the receiver knows the new one first:
  rotate-secret <address> --signing --prepare    creates and prints the new secret; add it to the receiver
  rotate-secret <address> --signing --activate   signs with the new secret; add --no-grace when others know the old one
To delete the new secret instead, pass --abort in place of --activate.`

/**
 * Runs one step of the rotation of a signing secret: docs/rotate-a-signing-secret.md.
 *
 * @throws UsageError `ERR_USAGE` unless `signing` and one step are given, and for a grace time without `activate`;
 * IntegrationError `ERR_INTEGRATION_NOT_FOUND`, `ERR_SIGNING_SECRET_NOT_PREPARED`.
 */
export async function rotateSigningSecret(
  address: string,
  options: RotateSigningSecretOptions,
  io: Io,
): Promise<ExitCode> {
  const { signing = false, prepare = false, activate = false, abort = false, graceMs } = options
  if (!signing || [prepare, activate, abort].filter(Boolean).length !== 1) throw new UsageError(steps)
  if (!activate && graceMs !== undefined) throw new UsageError('--grace and --no-grace need --activate.')
  const command = `payment-integration integrations rotate-secret ${address} --signing`
  return withService(options, io, async ({ integrations }, report) => {
    if (prepare) {
      const event = { event: 'integration.signing_secret_prepared', address }
      report({ ...event, ...(await integrations.prepareSigningSecret(address)) }, ({ signingSecret, isNew }) => [
        `Webhook secret  ${signingSecret}`,
        `${isNew ? 'It is prepared' : 'It was prepared before'}; deliveries are signed with the old secret until you activate it.`,
        'Add it to the receiver and keep the old secret there. This command prints it again until it is active. Then run:',
        `  ${command} --activate`,
      ])
    } else if (activate) {
      const grace = graceMs ?? defaultGraceMs
      const activated = await integrations.activateSigningSecret(address, { graceMs: grace })
      report({ event: 'integration.signing_secret_activated', address, graceMs: grace, ...activated }, () => [
        'Deliveries are signed with the prepared webhook secret from now on.',
        grace === 0
          ? 'The old secret is no longer used: remove it from the receiver.'
          : `For ${duration(grace)}, a delivery that is answered 400, 401 or 403 is repeated at once, signed with the old secret.`,
      ])
    } else {
      await integrations.abortSigningSecret(address)
      report({ event: 'integration.signing_secret_aborted', address }, () => [
        'The prepared webhook secret is deleted; deliveries are signed as before. Remove it from the receiver.',
      ])
    }
  })
}
