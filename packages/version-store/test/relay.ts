/** A relay on a socket of its own, in front of a server. @module */
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Opens it in a new folder. When one side of a connection breaks or ends, so does the other.
 * @param relay - Passes on the data of a new connection; `sever` breaks both sides.
 */
export async function openRelay(
  target: string,
  name: string,
  relay: (client: Socket, upstream: Socket, sever: () => void) => void,
) {
  const folder = mkdtempSync(join(tmpdir(), 'version-store-relay-'))
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect(target)
    const sever = () => {
      client.destroy()
      upstream.destroy()
    }
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', sever)
      socket.on('close', () => {
        sockets.delete(socket)
        sever()
      })
    }
    relay(client, upstream, sever)
  })
  server.listen(join(folder, name))
  await once(server, 'listening')
  return {
    folder,
    path: join(folder, name),
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
