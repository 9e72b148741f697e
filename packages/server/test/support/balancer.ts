/** A balancer that sends requests to the servers whose `/ready` answers 200, over kept connections. */
import { Agent, createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Backend {
  readonly url: string
  readonly adminUrl: string | null
}

const pollMs = 20

export async function startBalancer() {
  const agent = new Agent({ keepAlive: true })
  const backends = new Map<Backend, { ready: boolean }>()
  const answered = new Map<Backend, number>()
  const lost: string[] = []
  let next = 0
  let polls: Promise<unknown> = Promise.resolve()
  const server = createServer((incoming, outgoing) => {
    const usable = [...backends].filter(([, { ready }]) => ready).map(([backend]) => backend)
    const backend = usable[next++ % usable.length]
    const fail = (reason: string) => {
      lost.push(reason)
      outgoing.writeHead(502).end()
    }
    if (backend === undefined) return fail('no backend is ready')
    const { method, headers, url } = incoming
    const sent = request(`${backend.url}${url}`, { method, headers, agent }, (answer) => {
      answered.set(backend, (answered.get(backend) ?? 0) + 1)
      const { connection: _, ...kept } = answer.headers
      outgoing.writeHead(answer.statusCode ?? 502, kept)
      answer.on('error', (error) => fail(`cut: ${error.message}`))
      answer.pipe(outgoing)
    })
    sent.on('error', (error: NodeJS.ErrnoException) => fail(`${error.code}: ${error.message}`))
    incoming.pipe(sent)
    return undefined
  })
  // Clients keep their connections: one that is closed while a request is sent would count as lost.
  server.keepAliveTimeout = 600_000
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const poll = async ([backend, state]: [Backend, { ready: boolean }]) => {
    state.ready = await fetch(`${backend.adminUrl}/ready`).then(
      ({ ok }) => ok,
      () => false,
    )
  }
  const timer = setInterval(() => {
    polls = Promise.all([...backends].map(poll))
  }, pollMs)
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    answered,
    lost,
    add: (backend: Backend) => void backends.set(backend, { ready: false }),
    remove: (backend: Backend) => void backends.delete(backend),
    isUsed: (backend: Backend) => backends.get(backend)?.ready === true,
    async stop() {
      clearInterval(timer)
      await polls
      agent.destroy()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
