/** Serves the webhook endpoint of a mirror. @module */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { HandlerOptions } from '@payment-integration/webhook'
import { InvalidArgumentError } from 'commander'
import { UsageError } from '../../errors.js'

/** Where to listen. */
export interface ListenAddress {
  readonly host: string
  readonly port: number
  /** Begins with a slash. */
  readonly path: string
}

/** Parses `127.0.0.1:4748/webhook` or `[::1]:4748/webhook`. Port 0 picks a free one; without a path it is `/`. */
export function parseListenAddress(text: string): ListenAddress {
  const [, ipv6, name, port = '', path = '/'] =
    /^(?:\[([0-9a-fA-F:.]{2,45})\]|([A-Za-z0-9.-]{1,253})):(\d{1,5})(\/[\w./~-]{0,200})?$/.exec(text) ?? []
  const host = ipv6 ?? name
  if (host === undefined || Number(port) > 65_535)
    throw new InvalidArgumentError('Expected an address, a port and a path, such as 127.0.0.1:4748/webhook.')
  return { host, port: Number(port), path }
}

/** A running endpoint. */
interface Endpoint {
  readonly url: string
  /** Finishes the requests in flight; after `graceMs` it cuts those that are left. */
  close(): Promise<void>
}

/**
 * Listens; every other path is 404.
 * @param graceMs - Longest wait for the requests in flight at the end.
 * @throws UsageError `ERR_USAGE` when the address cannot be used.
 */
export async function serveEndpoint(
  { host, port, path }: ListenAddress,
  options: Required<Pick<HandlerOptions, 'receive' | 'onError' | 'onRefusal'>>,
  graceMs = 5_000,
): Promise<Endpoint> {
  const { createNodeHandler } = await import('@payment-integration/webhook/node')
  const handle = createNodeHandler(options)
  const server = createServer((request, response) => {
    if (request.url?.split('?')[0] === path) return void handle(request, response)
    response.writeHead(404).end()
    return undefined
  })
  server.listen(port, host)
  try {
    await once(server, 'listening')
  } catch (error) {
    const { code } = error as { code?: unknown }
    const advice =
      code === 'EADDRINUSE'
        ? 'another program listens there; stop it or choose another port (--listen)'
        : code === 'EACCES'
          ? 'this user may not use that port; choose one above 1023 (--listen)'
          : 'check --listen'
    throw new UsageError(`Cannot listen on ${host} port ${port} (${code ?? 'unknown reason'}): ${advice}.`, {
      cause: error,
    })
  }
  const { port: actual } = server.address() as AddressInfo
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${actual}${path}`,
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeIdleConnections()
      const timer = setTimeout(() => server.closeAllConnections(), graceMs)
      await closed
      clearTimeout(timer)
    },
  }
}
