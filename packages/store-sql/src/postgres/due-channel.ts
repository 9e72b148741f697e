/**
 * Word of deliveries that became due, between processes: NOTIFY and LISTEN. It saves waiting and nothing depends on it,
 * so it is sent after the commit, where it holds up no other commit, and lost words are made up for by looking.
 *
 * @module
 */
import pg from 'pg'
import { lockKey } from './lock-key.js'

/** How long a listener waits before it connects again, in milliseconds: twice as long each time. */
const reconnectMs = { least: 100, most: 10_000 } as const

/** A way to send word and to hear it. */
export interface DueChannel {
  /** Sends word soon; words that wait for each other become one. */
  announce(): void
  /** Calls `listener` for each word. Returns what ends it. */
  listen(listener: () => void): () => void
  /** Ends all listening. */
  close(): Promise<void>
}

/** The name of a schema's channel. */
export function dueChannelName(schema: string): string {
  return `payment_integration_${BigInt.asUintN(64, BigInt(lockKey(schema, 'due')))}`
}

/**
 * Makes the channel of a schema.
 * @param notify - Sends a statement to the database.
 */
export function createDueChannel(
  schema: string,
  config: pg.ClientConfig,
  notify: (sql: string) => Promise<unknown>,
): DueChannel {
  const channel = dueChannelName(schema)
  const listeners = new Set<() => void>()
  let listening: { end(): Promise<void> } | null = null
  let sending = false
  let waiting = false

  async function send(): Promise<void> {
    sending = true
    do {
      waiting = false
      await notify(`notify ${channel}`).catch(() => undefined)
    } while (waiting)
    sending = false
  }

  return {
    announce() {
      waiting = true
      if (!sending) void send()
    },
    listen(listener) {
      // Each call is a listener of its own, whichever function it brings.
      const own = () => listener()
      listeners.add(own)
      listening ??= keepListening(channel, config, () => {
        for (const each of listeners) each()
      })
      return () => {
        listeners.delete(own)
        if (listeners.size > 0) return
        void listening?.end()
        listening = null
      }
    },
    async close() {
      listeners.clear()
      await listening?.end()
      listening = null
    },
  }
}

/** Listens on a connection of its own, and on another one when that is lost. */
function keepListening(channel: string, config: pg.ClientConfig, heard: () => void): { end(): Promise<void> } {
  let client: pg.Client | undefined
  let timer: NodeJS.Timeout | undefined
  let ended = false
  let delayMs: number = reconnectMs.least

  function connect(): void {
    const current = new pg.Client({ ...config, pipeline: false, keepAlive: true, keepAliveInitialDelayMillis: 10_000 })
    client = current
    let lost = false
    const lose = () => {
      if (lost || ended) return
      lost = true
      void current.end().catch(() => undefined)
      timer = setTimeout(connect, delayMs)
      timer.unref()
      delayMs = Math.min(delayMs * 2, reconnectMs.most)
    }
    current.on('error', lose)
    current.on('end', lose)
    current.on('notification', heard)
    const start = async () => {
      await current.connect()
      await current.query(`listen ${channel}`)
      delayMs = reconnectMs.least
      // Whatever was said before is not heard: somebody looks.
      if (!ended) heard()
    }
    start().catch(lose)
  }

  connect()
  return {
    async end() {
      ended = true
      clearTimeout(timer)
      await client?.end().catch(() => undefined)
    },
  }
}
