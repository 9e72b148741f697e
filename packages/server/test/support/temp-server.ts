/** A configuration, and a running server on one, until the test ends. */
import { onTestFinished } from 'vitest'
import type { Config } from '../../src/config/read-config.js'
import { type RunningServer, startServer } from '../../src/run/start-server.js'
import { tempConfig } from './temp-config.js'

export async function getTempConfig(env: Record<string, string> = {}): Promise<Config> {
  const { config, remove } = await tempConfig(env)
  onTestFinished(remove)
  return config
}

export async function startTempServer(
  env: Record<string, string> = {},
  options?: Parameters<typeof startServer>[1],
): Promise<RunningServer> {
  const server = await startServer(await getTempConfig(env), options)
  onTestFinished(() => server.stop())
  return server
}
