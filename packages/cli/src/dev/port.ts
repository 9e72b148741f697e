/** Chooses the port of the demo's API. @module */
import { once } from 'node:events'
import { createServer } from 'node:net'
import { DemoError } from '../errors.js'
import type { Io } from '../io.js'
import { devDefaults } from './options.js'

type Start = typeof import('@payment-integration/server/service')['startServer']

/**
 * Starts the server. If another program took the port meanwhile and `mayMove` is set, it tries the next free port.
 *
 * @throws ListenError `ERR_LISTEN` when the port is in use and `mayMove` is not set; other errors of the server's
 * start.
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

/** The port of the option or of the environment, else the first free one from the default on. */
export async function choosePort(flag: number | undefined, env: Io['env']): Promise<number | string> {
  return flag ?? (env['PI_PORT'] || (await firstFreePort(devDefaults.port)))
}

const maxPorts = 100

/**
 * The first free TCP port of 127.0.0.1 from `first` on.
 * @throws DemoError `ERR_DEMO` when a hundred ports in a row are taken.
 */
export async function firstFreePort(first: number): Promise<number> {
  const last = Math.min(first + maxPorts - 1, 65_535)
  for (let port = first; port <= last; port += 1) {
    if (await isFree(port)) return port
  }
  throw new DemoError(`Ports ${first} to ${last} are all in use; pass a free one with --port.`)
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer()
  try {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    server.close()
    await once(server, 'close')
    return true
  } catch {
    return false
  }
}
