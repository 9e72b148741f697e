/** A proxy that serves a service below a prefix only. */
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * Strips `prefix` from each target and forwards the rest; answers 404 outside the prefix.
 * @returns Its own address with the prefix, and the forwarded targets.
 */
export async function startPrefixProxy(prefix: string, service: string) {
  const passed: string[] = []
  function pass(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const { url = '', method, headers } = incoming
    if (!url.startsWith(`${prefix}/`)) return void outgoing.writeHead(404).end()
    const target = url.slice(prefix.length)
    passed.push(target)
    const onward = request(
      `${service}${target}`,
      { method, headers: { ...headers, connection: 'close' } },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(outgoing)
      },
    )
    onward.on('error', () => outgoing.destroy())
    incoming.pipe(onward)
  }
  const server = createServer(pass)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}${prefix}`,
    passed,
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
