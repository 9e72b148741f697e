/** `payment-integration integrations rotate-secret`, for both secrets. @module */
import { UsageError } from '../errors.js'
import { duration, shownOnce } from '../format.js'
import type { ExitCode, Io } from '../io.js'
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

/** Options of {@link rotateSigningSecret}: `signing` and one of the three steps. */
export interface RotateSigningSecretOptions extends RotateSecretOptions {
  readonly signing?: boolean | undefined
  /** Make the next secret and print it, or print again the one that is prepared. */
  readonly prepare?: boolean | undefined
  /** Sign with the prepared secret; `graceMs` is for how long the one before is used where the receiver rejects it. */
  readonly activate?: boolean | undefined
  /** Drop the prepared secret. */
  readonly abort?: boolean | undefined
}

const steps = `A signing secret is replaced in two steps, so that its receiver can know it first:
  rotate-secret <address> --signing --prepare    makes the next one and prints it; give it to the receiver beside the old one
  rotate-secret <address> --signing --activate   signs with it from then on; with --no-grace when the old one is known to others
or --abort instead of --activate, which drops it again.`

/**
 * Takes one step of the rotation of a signing secret: docs/rotate-a-signing-secret.md.
 * @throws UsageError `ERR_USAGE` unless `signing` and one step are given, and for a grace time with another step than
 * `activate`; IntegrationError `ERR_INTEGRATION_NOT_FOUND`, `ERR_SIGNING_SECRET_NOT_PREPARED`.
 */
export async function rotateSigningSecret(
  address: string,
  options: RotateSigningSecretOptions,
  io: Io,
): Promise<ExitCode> {
  const { signing = false, prepare = false, activate = false, abort = false, graceMs } = options
  if (!signing || [prepare, activate, abort].filter(Boolean).length !== 1) throw new UsageError(steps)
  if (!activate && graceMs !== undefined) throw new UsageError('--grace and --no-grace go with --activate.')
  const command = `payment-integration integrations rotate-secret ${address} --signing`
  return withService(options, io, async ({ integrations }, report) => {
    if (prepare) {
      const event = { event: 'integration.signing_secret_prepared', address }
      report({ ...event, ...(await integrations.prepareSigningSecret(address)) }, ({ signingSecret, isNew }) => [
        `Webhook secret  ${signingSecret}`,
        `${isNew ? 'It is prepared' : 'It was prepared before'}; deliveries are signed with the old one until you activate it.`,
        'Give it to the receiver beside the old one. This command prints it again until it is active. Then:',
        `  ${command} --activate`,
      ])
    } else if (activate) {
      const grace = graceMs ?? defaultGraceMs
      const activated = await integrations.activateSigningSecret(address, { graceMs: grace })
      report({ event: 'integration.signing_secret_activated', address, graceMs: grace, ...activated }, () => [
        'Deliveries are signed with the prepared webhook secret from now on.',
        grace === 0
          ? 'The old one is not used any more: take it away from the receiver.'
          : `For ${duration(grace)}, one that is answered 400, 401 or 403 is sent once more at once, signed with the old one.`,
      ])
    } else {
      await integrations.abortSigningSecret(address)
      report({ event: 'integration.signing_secret_aborted', address }, () => [
        'The prepared webhook secret is dropped; deliveries are signed as before. Take it away from the receiver.',
      ])
    }
  })
}
