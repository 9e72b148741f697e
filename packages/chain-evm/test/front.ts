/** A real HTTP server in front of a node that a test can make lie, stall or break. @module */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach } from 'vitest'

/** One call of a request. */
export interface FrontCall {
  readonly method: string
  readonly params: readonly unknown[]
}

export interface FrontRequest {
  readonly methods: readonly string[]
  /** The calls of the request, in order. */
  readonly calls: readonly FrontCall[]
  readonly isBatch: boolean
  /** The node's own answer, as text. */
  forward(): Promise<string>
}

/** Answers the request, unless it returns text, which is sent as JSON with status 200. */
export type Intercept = (request: FrontRequest, response: ServerResponse) => unknown

export interface Front {
  readonly url: string
  /** The requests so far: one entry per HTTP request. */
  readonly requests: readonly (readonly string[])[]
  intercept: Intercept
  /** The requests that work makes. */
  during(work: () => Promise<unknown>): Promise<readonly (readonly string[])[]>
  /** Replaces the results of a method. */
  lie(method: string, change: (result: never, call: FrontCall) => unknown): void
}

export const passOn: Intercept = (request) => request.forward()

/** The answer to one call, alone or in a batch. */
export interface Item {
  readonly id: number
  readonly result?: unknown
  readonly error?: unknown
}

/** Changes answers one by one, alone and in batches; null leaves the answer out of a batch. */
export function rewriting(change: (item: Item, call: FrontCall) => Item | null): Intercept {
  return async ({ calls, isBatch, forward }) => {
    const parsed = JSON.parse(await forward()) as Item | Item[]
    const items = Array.isArray(parsed) ? parsed : [parsed]
    const changed = calls.map((call, index) => {
      const item = items[index]
      return item === undefined ? null : change(item, call)
    })
    const answers = changed.filter((item) => item !== null)
    return JSON.stringify(isBatch ? answers : answers[0])
  }
}

/** A front that closes after the tests of the file, and passes answers unchanged again after each test. */
export async function useFront(nodeUrl: string): Promise<Front> {
  const requests: string[][] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      answer(Buffer.concat(chunks).toString('utf8'), response).catch(() => response.destroy())
    })
  })
  async function answer(body: string, response: ServerResponse): Promise<void> {
    const parsed = JSON.parse(body) as FrontCall | FrontCall[]
    const calls = Array.isArray(parsed) ? parsed : [parsed]
    const methods = calls.map(({ method }) => method)
    requests.push(methods)
    const forward = async () => {
      const headers = { 'content-type': 'application/json' }
      return (await fetch(nodeUrl, { method: 'POST', headers, body })).text()
    }
    const text = await front.intercept({ methods, calls, isBatch: Array.isArray(parsed), forward }, response)
    if (typeof text === 'string') response.writeHead(200, { 'content-type': 'application/json' }).end(text)
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const front: Front = {
    ...{ url, requests, intercept: passOn },
    async during(work) {
      const before = requests.length
      await work()
      return requests.slice(before)
    },
    lie(method, change) {
      front.intercept = rewriting((item, call) =>
        call.method === method && item.result !== undefined
          ? { ...item, result: change(item.result as never, call) }
          : item,
      )
    },
  }
  afterEach(() => {
    front.intercept = passOn
  })
  afterAll(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return front
}
