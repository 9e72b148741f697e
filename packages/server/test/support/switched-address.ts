/** One address for the primary, whichever server that is: a virtual IP address of an operator, as a TCP relay. */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export async function startSwitchedAddress(first: string) {
  const open = new Set<Socket>()
  const getPath = (address: string) => `${new URL(address).searchParams.get('host')}/.s.PGSQL.5432`
  let path = getPath(first)
  const cutAll = () => {
    for (const socket of open) socket.destroy()
  }
  const server = createServer((client) => {
    const upstream = connect(path)
    for (const socket of [client, upstream]) {
      open.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => {
        open.delete(socket)
        client.destroy()
        upstream.destroy()
      })
    }
    client.pipe(upstream).pipe(client)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    connectionString: `postgres://postgres@127.0.0.1:${port}/postgres`,
    moveTo(address: string) {
      path = getPath(address)
      cutAll()
    },
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve))
      cutAll()
      await closed
    },
  }
}
