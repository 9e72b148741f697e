/** `payment-integration legacy-keys create`. @module */
import type { ExitCode, Io } from '../../io.js'
import { shownOnce } from '../../output/shown-once.js'
import { type OperateOptions, withService } from '../with-service.js'

/** Options of {@link createLegacyKey}. */
export interface CreateLegacyKeyOptions extends OperateOptions {
  /** A label for people. @default empty */
  readonly name?: string | undefined
}

/** Issues an API key of the legacy endpoints and prints it once, with how it is sent. Source: INTERFACE 5 (legacy API). */
export function createLegacyKey(options: CreateLegacyKeyOptions, io: Io): Promise<ExitCode> {
  const { name } = options
  return withService({ ...options, mayCreate: true }, io, async ({ legacyKeys }, report) => {
    const issued = await legacyKeys.create({ name })
    report({ event: 'legacy_key.created', ...issued }, ({ key, apiKey }) => [
      `Created legacy API key ${key.id}${key.name === '' ? '' : ` (${key.name})`}.`,
      `  API key  ${apiKey}`,
      '  Send it  as "Authorization: <key>" with GET /api/v1/tx/<chainId>/<txHash> and POST /api/v1/verify',
      `${shownOnce('The key is')} A lost one is revoked, and a new one created.`,
    ])
  })
}
