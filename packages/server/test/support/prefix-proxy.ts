/** A proxy that offers a service below a path, and nothing at any other. */
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * Takes `prefix` off each target and passes the rest on; answers 404 to what is not below it.
 * @returns Its own address with the prefix, and the targets that it passed on.
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
