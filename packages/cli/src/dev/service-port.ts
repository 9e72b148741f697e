/** The port of the demo's API. @module */
import type { Io } from '../io.js'
import { firstFreePort } from './free-port.js'
import { devDefaults } from './options.js'

type Start = typeof import('@payment-integration/server')['startServer']

/**
 * Starts the server; another program may take the port between the look for a free one and the use of it,
 * and then it moves on if it may.
 * @throws ListenError `ERR_LISTEN` when the port cannot be used and it may not move; what the server cannot start with.
 */
export async function startOnPort(
  start: Start,
  config: Parameters<Start>[0],
  options: Parameters<Start>[1],
  mayMove: boolean,
): ReturnType<Start> {
  try {
    return await start(config, options)
  } catch (error) {
    if (!mayMove || (error as { code?: unknown }).code !== 'ERR_LISTEN') throw error
    const port = await firstFreePort(config.port + 1)
    return startOnPort(start, { ...config, port }, options, mayMove)
  }
}

/** A port given by flag or environment is taken as it is; the default may move to the next free one. */
export async function choosePort(flag: number | undefined, env: Io['env']): Promise<number | string> {
  return flag ?? (env['PI_PORT'] || (await firstFreePort(devDefaults.port)))
}
