/** An address behind which a node can be replaced by another one. @module */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export async function openSwappingAddress(nodeUrl: string) {
  let port = getPort(nodeUrl)
  let passed = 0
  let due: { readonly at: number; readonly run: () => void } | null = null
  const pairs = new Map<Socket, Socket>()

  function reach(client: Socket): Socket {
    const node = connect(port, '127.0.0.1')
    pairs.set(client, node)
    node.on('data', (bytes) => {
      client.write(bytes)
      passed += 1
      if (due !== null && passed >= due.at) due.run()
    })
    node.on('error', () => client.destroy())
    node.on('close', () => {
      if (pairs.get(client) === node) client.end()
    })
    return node
  }

  const server = createServer((client) => {
    reach(client)
    client.on('data', (bytes) => pairs.get(client)?.write(bytes))
    client.on('error', () => client.destroy())
    client.on('close', () => {
      pairs.get(client)?.destroy()
      pairs.delete(client)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))

  function swap(to: string, cut: boolean): void {
    due = null
    port = getPort(to)
    for (const [client, node] of [...pairs]) {
      if (cut) client.end()
      else reach(client)
      node.destroy()
    }
  }

  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    swap,
    swapAfter(pieces: number, to: string, cut: boolean) {
      due = { at: passed + pieces, run: () => swap(to, cut) }
    },
    pieces: () => passed,
    async close() {
      for (const client of pairs.keys()) client.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function getPort(url: string): number {
  return Number(new URL(url).port)
}
