/** A receiver that records notifications and answers as scripted, without product code. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A delivery as it came off the socket. */
export interface Arrived {
  readonly method: string
  readonly path: string
  /** Name and value in turn, in the case in which they were sent. */
  readonly rawHeaders: readonly string[]
  readonly headers: IncomingMessage['headers']
  readonly body: Buffer
}

/** Starts one on a free port, or on a given one. `answer` may be replaced at any time; it answers 204 until then. */
export async function startRecordingReceiver(port = 0) {
  const arrived: Arrived[] = []
  const receiver = {
    url: '',
    arrived,
    /** Those of one transaction, as JSON, in order of arrival. */
    snapshots: (txHash: string) =>
      arrived.map(({ body }) => JSON.parse(body.toString('utf8'))).filter((snapshot) => snapshot.txHash === txHash),
    answer: (_: Arrived, response: ServerResponse): void => void response.writeHead(204).end(),
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { method = '', url: path = '', rawHeaders, headers } = request
      const delivery = { method, path, rawHeaders, headers, body: Buffer.concat(chunks) }
      arrived.push(delivery)
      receiver.answer(delivery, response)
    })
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return receiver
}
