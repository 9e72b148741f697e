/** What the commands about integrations share. @module */
import type { IntegrationCommands } from '@payment-integration/core'
import type { Io } from '../../io.js'
import { logToStandardError } from '../../output/log-to.js'
import { createReporter, type Reporter } from '../../output/reporter.js'
import { type ConfigFlags, withFlags } from '../config-flags.js'

/** Options of every command about integrations. */
export interface IntegrationOptions extends Pick<ConfigFlags, 'database'> {
  /** One JSON object per line. @default false */
  readonly json?: boolean | undefined
}

/**
 * Opens the database that the configuration names, runs `work`, and closes it again in any case. The server may be running
 * meanwhile: it reads integrations from the same database.
 * @throws ConfigError `ERR_CONFIG`; StoreError `ERR_STORE_UNAVAILABLE` and its kin; what `work` throws.
 */
export async function withIntegrations(
  options: IntegrationOptions,
  io: Io,
  work: (integrations: IntegrationCommands, report: Reporter) => Promise<void>,
): Promise<0> {
  const { openService, readConfig } = await import('@payment-integration/server')
  const config = readConfig(withFlags(io.env, options))
  const { service, close } = await openService(config, { logger: await logToStandardError(config, io) })
  try {
    await work(service.integrations, createReporter(io, options.json ?? false))
  } finally {
    await close()
  }
  return 0
}
