import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A delivery as it came off the socket. */
export interface Captured {
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  readonly snapshot: { version: number; state: string | null } & Record<string, unknown>
}

/** A receiver that shares no code with the product: raw bytes, `node:crypto`, nothing else. */
export async function startReceiver() {
  const deliveries: Captured[] = []
  const waiting = new Set<() => void>()
  const held: ServerResponse[] = []
  let isHeld = false
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks)
      deliveries.push({ headers: request.headers, body, snapshot: JSON.parse(body.toString('utf8')) })
      if (isHeld) held.push(response)
      else response.writeHead(204).end()
      for (const look of waiting) look()
    })
  })
  const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const shut = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  await listen(0)
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/hook`,
    deliveries,
    /** From now on deliveries arrive and are not answered, until {@link release}. */
    hold() {
      isHeld = true
    },
    /** Answers the deliveries that were held, and those to come. */
    release() {
      isHeld = false
      for (const response of held.splice(0)) response.writeHead(204).end()
    },
    /** Refuses connections until {@link open}: nothing can arrive. */
    shut,
    /** Listens on the same port again. */
    open: () => listen(port),
    /** Resolves once `count` deliveries of a version have arrived. */
    arrival: (version: number, count = 1) =>
      new Promise<Captured>((resolve) => {
        const look = () => {
          const found = deliveries.filter(({ snapshot }) => snapshot.version === version)[count - 1]
          if (found === undefined) return
          waiting.delete(look)
          resolve(found)
        }
        waiting.add(look)
        look()
      }),
    async close() {
      for (const response of held) response.destroy()
      await shut()
    },
  }
}

/** Recomputes the signature of docs/interface.md 6 over the captured bytes. */
export function signatureIsGenuine({ headers, body }: Captured, secret: string): boolean {
  const match = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers['x-service-signature']))
  if (match === null) return false
  const [, t = '', v1 = ''] = match
  const expected = createHmac('sha256', secret).update(`${t}.`).update(body).digest()
  return timingSafeEqual(expected, Buffer.from(v1, 'hex')) && Math.abs(Date.now() / 1000 - Number(t)) < 300
}
