/** A running server on a configuration of its own, until the test ends. */
import { onTestFinished } from 'vitest'
import { type RunningServer, startServer } from '../../src/run/start-server.js'
import { tempConfig } from './temp-config.js'

export async function startTempServer(
  env: Record<string, string> = {},
  options?: Parameters<typeof startServer>[1],
): Promise<RunningServer> {
  const { config, remove } = await tempConfig(env)
  onTestFinished(remove)
  const server = await startServer(config, options)
  onTestFinished(() => server.stop())
  return server
}
