import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { senderConformance } from '@payment-integration/testing/conformance'
import { createUndiciSender } from './undici-sender.js'

senderConformance('undici', async () => {
  const sender = createUndiciSender({ allowLoopbackHttp: true })
  return {
    sender,
    async receive(answer) {
      const server = createServer((request, response) => {
        const chunks: Buffer[] = []
        request.on('data', (chunk: Buffer) => chunks.push(chunk))
        request.on('end', () => {
          const { method = '', headers } = request
          const given = answer({ method, headers: toTexts(headers), body: new Uint8Array(Buffer.concat(chunks)) })
          if (given !== 'hang') response.writeHead(given.status, given.headers).end(given.body)
        })
      })
      await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
      const { port } = server.address() as AddressInfo
      return {
        url: `http://127.0.0.1:${port}/hook`,
        async close() {
          server.closeAllConnections()
          await new Promise((closed) => server.close(closed))
        },
      }
    },
    close: () => sender.close(),
  }
})

const toTexts = (headers: IncomingHttpHeaders) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
