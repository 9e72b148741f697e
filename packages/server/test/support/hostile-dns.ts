/** A DNS server over UDP and TCP with scripted answers that counts its queries. */
import { createSocket } from 'node:dgram'
import { createServer, type Socket } from 'node:net'
import dns, { type Answer, type Packet } from 'dns-packet'

export interface Query {
  readonly id: number
  readonly name: string
  readonly type: string
  readonly transport: 'udp' | 'tcp'
  /** Earlier queries for this name and type, over this transport. */
  readonly before: number
}

/** Fields of an answer, bytes to send as they are, or null for silence. */
export type Reply = Packet | Buffer | null
/** The answer; a promise answers when it resolves. */
export type Answers = (query: Query) => Reply | Promise<Reply>

export type DnsServer = Awaited<ReturnType<typeof startDns>>

/** Response codes, which dns-packet keeps in the low bits of the flags. */
export const rcode = { noSuchName: 3, refused: 5 } as const

/** Starts the server on 127.0.0.1. */
export async function startDns(answers: Answers) {
  /** Queries received, oldest first. */
  const queries: Query[] = []
  const udp = createSocket('udp4')
  const tcp = createServer()
  const sockets = new Set<Socket>()
  // One port for both transports: another process may use the port on one of them.
  const port = await bindBoth()

  async function reply(bytes: Buffer, transport: 'udp' | 'tcp'): Promise<Buffer | null> {
    const message = dns.decode(bytes)
    const { name = '', type = 'A' } = message.questions?.[0] ?? {}
    const before = queries.filter((each) => each.name === name && each.type === type && each.transport === transport)
    const question: Query = { id: message.id ?? 0, name, type, transport, before: before.length }
    queries.push(question)
    const made = await answers(question)
    if (made === null || Buffer.isBuffer(made)) return made
    const flags = dns.RECURSION_DESIRED | dns.RECURSION_AVAILABLE | (made.flags ?? 0)
    return dns.encode({ type: 'response', id: question.id, questions: message.questions, ...made, flags })
  }

  async function bindBoth(): Promise<number> {
    for (;;) {
      await new Promise<void>((resolve, reject) => tcp.once('error', reject).listen(0, '127.0.0.1', resolve))
      const { port } = tcp.address() as { port: number }
      const bound = await new Promise<boolean>((resolve) => {
        udp.once('error', () => resolve(false))
        udp.bind(port, '127.0.0.1', () => resolve(true))
      })
      if (bound) return port
      await new Promise((resolve) => tcp.close(resolve))
    }
  }

  udp.on('message', (bytes, from) => {
    void reply(bytes, 'udp').then((made) => {
      if (made !== null && !isStopped) udp.send(made, from.port, from.address)
    })
  })
  tcp.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket))
    let pending = Buffer.alloc(0)
    socket.on('data', (chunk) => {
      pending = Buffer.concat([pending, chunk])
      while (pending.length >= 2 && pending.length >= 2 + pending.readUInt16BE(0)) {
        const end = 2 + pending.readUInt16BE(0)
        void reply(pending.subarray(2, end), 'tcp').then((made) => {
          if (made === null || socket.destroyed) return
          const size = Buffer.alloc(2)
          size.writeUInt16BE(made.length)
          socket.write(Buffer.concat([size, made]))
        })
        pending = pending.subarray(end)
      }
    })
  })

  let isStopped = false
  return {
    /** For the `servers` option of a sender. */
    servers: [`127.0.0.1:${port}`],
    queries,
    async stop() {
      isStopped = true
      for (const socket of sockets) socket.destroy()
      await Promise.all([new Promise((resolve) => tcp.close(resolve)), new Promise<void>((done) => udp.close(done))])
    },
  }
}

/** Address records of the queried type among these addresses, of one name. */
export function records({ name, type }: Query, addresses: readonly string[]): Answer[] {
  const family = type === 'AAAA' ? 6 : 4
  return addresses
    .filter((address) => (address.includes(':') ? 6 : 4) === family)
    .map((data) => ({ name, type: family === 6 ? 'AAAA' : 'A', ttl: 0, data }))
}

/** Answers these addresses for every name: A records for the dotted ones, AAAA for the others. */
export function always(...addresses: readonly string[]): Answers {
  return (query) => ({ answers: records(query, addresses) })
}
