import type { Socket } from 'node:net'

/** Ties the two sides of a relay together: when one breaks or ends, so does the other. @returns What ends both. */
export function tie(client: Socket, upstream: Socket, open: Set<Socket>): () => void {
  const sever = () => {
    client.destroy()
    upstream.destroy()
  }
  for (const socket of [client, upstream]) {
    open.add(socket)
    socket.on('error', sever)
    socket.on('close', () => {
      open.delete(socket)
      sever()
    })
  }
  return sever
}
