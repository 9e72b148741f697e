/** Announces due deliveries between processes, by NOTIFY and LISTEN. @module */
import { createHash } from 'node:crypto'
import pg from 'pg'

/** The first wait before a reconnect, in milliseconds; it doubles each time. */
const reconnectMs = { min: 100, max: 10_000 } as const

export function getDueChannelName(schema: string): string {
  const digest = createHash('sha256').update(`payment-integration\n${schema}\ndue`).digest()
  return `payment_integration_${digest.readBigUInt64BE(0)}`
}

/**
 * Announcements only shorten waits, since dispatchers also poll. So each is sent after the commit, where it delays no
 * other commit; concurrent announcements are merged. `config` is for the listener's connection; null if there is no
 * session to listen in.
 */
export function createDueChannel(
  schema: string,
  config: pg.ClientConfig | null,
  notify: (sql: string) => Promise<unknown>,
) {
  const channel = getDueChannelName(schema)
  const listeners = new Set<() => void>()
  let listening: { end(): Promise<void> } | null = null
  let isSending = false
  let isRequested = false

  async function send(): Promise<void> {
    isSending = true
    do {
      isRequested = false
      await notify(`notify ${channel}`).catch(() => undefined)
    } while (isRequested)
    isSending = false
  }

  return {
    announce() {
      isRequested = true
      if (!isSending) void send()
    },
    listen(listener: () => void): () => void {
      if (config === null) return () => undefined
      // Each call adds a listener, even with the same function.
      const wrapper = () => listener()
      listeners.add(wrapper)
      listening ??= keepListening(channel, config, () => {
        for (const each of listeners) each()
      })
      return () => {
        listeners.delete(wrapper)
        if (listeners.size > 0) return
        void listening?.end()
        listening = null
      }
    },
    async close(): Promise<void> {
      listeners.clear()
      await listening?.end()
      listening = null
    },
  }
}

/** Listens on a connection of its own, and reconnects. */
function keepListening(channel: string, config: pg.ClientConfig, onNotification: () => void): { end(): Promise<void> } {
  let client: pg.Client | undefined
  let timer: NodeJS.Timeout | undefined
  let isEnded = false
  let delayMs: number = reconnectMs.min

  function connect(): void {
    // The password of a pool's options is not enumerable, so the spread leaves it out.
    const settings = {
      password: config.password,
      pipeline: false,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
    }
    const current = new pg.Client({ ...config, ...settings })
    client = current
    let isLost = false
    const reconnectLater = () => {
      if (isLost || isEnded) return
      isLost = true
      void current.end().catch(() => undefined)
      timer = setTimeout(connect, delayMs)
      timer.unref()
      delayMs = Math.min(delayMs * 2, reconnectMs.max)
    }
    current.on('error', reconnectLater)
    current.on('end', reconnectLater)
    current.on('notification', onNotification)
    const start = async () => {
      await current.connect()
      await current.query(`listen ${channel}`)
      delayMs = reconnectMs.min
      // Announcements may have been missed, so listeners wake.
      if (!isEnded) onNotification()
    }
    start().catch(reconnectLater)
  }

  connect()
  return {
    async end() {
      isEnded = true
      clearTimeout(timer)
      await client?.end().catch(() => undefined)
    },
  }
}
