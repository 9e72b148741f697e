/** Finds a port to listen on. @module */
import { once } from 'node:events'
import { createServer } from 'node:net'
import { DemoError } from '../errors.js'

const attempts = 100

/**
 * The first free TCP port of 127.0.0.1 from `first` on.
 * @throws DemoError `ERR_DEMO` when a hundred ports in a row are taken.
 */
export async function firstFreePort(first: number): Promise<number> {
  const last = Math.min(first + attempts - 1, 65_535)
  for (let port = first; port <= last; port += 1) {
    if (await isFree(port)) return port
  }
  throw new DemoError(`Ports ${first} to ${last} are all in use; name a free one with --port.`)
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
