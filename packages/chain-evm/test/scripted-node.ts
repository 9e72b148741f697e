/** A real HTTP and WebSocket server with scripted JSON-RPC answers. @module */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { type WebSocket, WebSocketServer } from 'ws'

export interface ScriptedCall {
  readonly id: number
  readonly method: string
  readonly params: readonly unknown[]
}

/** The result of a call; an Error with a code is a JSON-RPC error. */
export type Answer = (call: ScriptedCall) => unknown

export class NodeError extends Error {
  readonly code: number
  constructor(code: number, message = 'no') {
    super(message)
    this.code = code
  }
}

export interface ScriptedNode {
  readonly url: string
  readonly wsUrl: string
  /** The answer to each call. */
  answer: Answer
  /** Answers a request instead of the node, unless it returns false. `body` is the node's own answer. */
  http: ((response: ServerResponse, calls: readonly ScriptedCall[], body: string) => unknown) | null
  /** As `http`, for messages over a WebSocket. */
  ws: ((socket: WebSocket, calls: readonly ScriptedCall[], body: string) => unknown) | null
  /** Methods of each request or message so far. */
  readonly requests: (readonly string[])[]
  /** Connections made so far. */
  readonly connections: Socket[]
  readonly sockets: WebSocket[]
  /** Requests with this method so far. */
  asked(method: string): number
  close(): Promise<void>
}

/** Answers chain id 31337 and head 0x64 by default. */
export const plain: Answer = ({ method }) =>
  method === 'eth_chainId' ? '0x7a69' : method === 'eth_blockNumber' ? '0x64' : null

export async function scriptedNode(answer: Answer = plain): Promise<ScriptedNode> {
  const connections: Socket[] = []
  const sockets: WebSocket[] = []
  const requests: (readonly string[])[] = []
  const item = (call: ScriptedCall) => {
    try {
      const result = node.answer(call)
      return { jsonrpc: '2.0', id: call.id, result }
    } catch (error) {
      if (!(error instanceof NodeError)) throw error
      return { jsonrpc: '2.0', id: call.id, error: { code: error.code, message: error.message } }
    }
  }
  function open(text: string) {
    const parsed = JSON.parse(text) as ScriptedCall | ScriptedCall[]
    const calls = Array.isArray(parsed) ? parsed : [parsed]
    requests.push(calls.map(({ method }) => method))
    return { calls, body: () => JSON.stringify(Array.isArray(parsed) ? calls.map(item) : item(parsed)) }
  }
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { calls, body } = open(Buffer.concat(chunks).toString('utf8'))
      if (node.http === null || node.http(response, calls, body()) === false)
        response.writeHead(200, { 'content-type': 'application/json' }).end(body())
    })
  })
  server.on('connection', (socket: Socket) => connections.push(socket))
  const websockets = new WebSocketServer({ server })
  websockets.on('connection', (socket) => {
    sockets.push(socket)
    socket.on('message', (data) => {
      const { calls, body } = open(String(data))
      if (node.ws === null || node.ws(socket, calls, body()) === false) socket.send(body())
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const node: ScriptedNode = {
    url: `http://127.0.0.1:${port}`,
    wsUrl: `ws://127.0.0.1:${port}`,
    answer,
    http: null,
    ws: null,
    requests,
    connections,
    sockets,
    asked: (method) => requests.flat().filter((name) => name === method).length,
    async close() {
      for (const socket of sockets) socket.terminate()
      server.closeAllConnections()
      websockets.close()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return node
}

/** Answers every request with a status and a text. */
export function always(status: number, body: string, headers: Record<string, string> = {}): ScriptedNode['http'] {
  return (response) => response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body)
}
