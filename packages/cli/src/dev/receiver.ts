/** The receiver of the demo, and the relay to the receiver of the user. @module */
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type ChaosFault, createChaos } from '@payment-integration/testing/twin'
import { createReceiver } from '@payment-integration/version-store'
import { createSqliteVersionStore } from '@payment-integration/version-store/sqlite'
import { createVerifier, readBody, type Snapshot } from '@payment-integration/webhook'
import { openSqlite } from '../files.js'
import type { Forwarded, ForwardedDelivery } from '../forward.js'
import type { DemoSink } from './demo-events.js'

export interface ReceiverAnswer {
  readonly snapshot: Snapshot
  readonly decision: 'apply' | 'duplicate' | 'stale'
}

interface DemoReceiverOptions {
  readonly databasePath: string
  /** The signing secret of the integration, undefined until it is issued. */
  readonly secret: () => string | undefined
  readonly clock: { now(): number }
  readonly onAnswer: (answer: ReceiverAnswer) => void
  readonly onRejection: (rejection: { readonly code: string; readonly status: number }) => void
  /** Forwards deliveries to the user's receiver, whose answer replaces this receiver's. @default none */
  readonly relay?: Relay | undefined
}

const maxBodyBytes = 65_536

export async function startDemoReceiver(options: DemoReceiverOptions) {
  const database = openSqlite(options.databasePath)
  database.exec('PRAGMA journal_mode = WAL')
  database.exec('CREATE TABLE orders (chain_id TEXT, tx_hash TEXT, snapshot TEXT, PRIMARY KEY (chain_id, tx_hash))')
  const save = database.prepare('INSERT OR REPLACE INTO orders (chain_id, tx_hash, snapshot) VALUES (?, ?, ?)')
  const find = database.prepare('SELECT snapshot FROM orders WHERE chain_id = ? AND tx_hash = ?')
  const { verify } = createVerifier({ secrets: () => options.secret(), clock: options.clock })
  const receiver = createReceiver({
    verify,
    store: createSqliteVersionStore({ database }),
    handle: (snapshot: Snapshot) => void save.run(snapshot.chainId, snapshot.txHash, JSON.stringify(snapshot)),
  })

  function reportRejection(error: unknown): number {
    const { code = 'ERR_UNEXPECTED', status = 500 } = error as { code?: string; status?: number }
    options.onRejection({ code, status })
    return status
  }

  /** A status of null closes the connection without an answer. */
  async function answer(request: IncomingMessage): Promise<Pick<Forwarded, 'status' | 'retryAfter'>> {
    if (request.method !== 'POST' || request.url !== '/webhook') return { status: 404, retryAfter: null }
    const body = await readBody(request, { maxBytes: maxBodyBytes }).catch(reportRejection)
    if (typeof body === 'number') return { status: body, retryAfter: null }
    const { headers } = request
    const status = await receiver.receive({ body, headers }).then((answered) => {
      options.onAnswer(answered)
      return 204
    }, reportRejection)
    return options.relay === undefined ? { status, retryAfter: null } : options.relay.pass({ headers, body })
  }

  const server = createServer((request, response) => {
    // A status of the user's receiver that Node cannot write closes the connection.
    answer(request)
      .then(({ status, retryAfter }) => {
        if (status === null) response.destroy()
        else response.writeHead(status, retryAfter === null ? {} : { 'Retry-After': retryAfter }).end()
      })
      .catch(() => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhook`,
    /** The newest stored snapshot, or null. */
    stored({ chainId, txHash }: Pick<Snapshot, 'chainId' | 'txHash'>): Snapshot | null {
      const row = find.get(chainId, txHash) as { snapshot: string } | undefined
      return row === undefined ? null : (JSON.parse(row.snapshot) as Snapshot)
    },
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
      database.close()
    },
  }
}

export type Forward = (delivery: ForwardedDelivery) => Promise<Forwarded>

export type Relay = ReturnType<typeof createRelay>

/** Percentages of deliveries by fault: only faults that a network can cause, so no wrong clock and no restart. */
const plan = { duplicate: 15, late: 10, lost: 10, slow: 10 } as const

const noAnswer = { status: null, retryAfter: null }

/** Creates a relay. The same advice is reported once, until it changes or a delivery succeeds. */
export function createRelay(url: string, forwardTo: Forward, seed: number, report: DemoSink) {
  const chaos = createChaos({ seed, plan })
  let isChaosOn = false
  let lastAdvice: string | null = null
  const late: ForwardedDelivery[] = []

  async function forward(delivery: ForwardedDelivery): Promise<Forwarded> {
    const answer = await forwardTo(delivery)
    const { problem: advice, status } = answer
    if (advice !== null && advice !== lastAdvice) report({ event: 'forward.failed', url, status, advice })
    lastAdvice = advice
    return answer
  }

  async function forwardAll(waiting: readonly ForwardedDelivery[]): Promise<void> {
    for (const earlier of waiting) await forward(earlier)
  }

  async function passWith(fault: ChaosFault | null, delivery: ForwardedDelivery) {
    if (fault === 'lost') return noAnswer
    if (fault === 'late') {
      late.push(delivery)
      return noAnswer
    }
    const answer = await forward(delivery)
    if (fault === 'duplicate') await forward(delivery)
    return fault === 'slow' ? noAnswer : answer
  }

  return {
    /** Forwards a delivery. A status of null closes the service's connection without an answer. */
    async pass(delivery: ForwardedDelivery): Promise<Pick<Forwarded, 'status' | 'retryAfter'>> {
      const waiting = late.splice(0)
      const answer = await passWith(isChaosOn ? chaos.next() : null, delivery)
      // Late deliveries follow after the answer, because the service waits a limited time.
      void forwardAll(waiting)
      return answer
    },
    toggleChaos() {
      isChaosOn = !isChaosOn
      if (!isChaosOn) void forwardAll(late.splice(0))
      return isChaosOn
    },
  }
}
