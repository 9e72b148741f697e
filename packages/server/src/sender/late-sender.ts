/**
 * A sender that is loaded with the first post: the library behind it takes longer to load than most commands run.
 * @module
 */
import { isInRanges } from '../internal/address-ranges.js'
import { createResolve } from './resolve-name.js'
import { senderDefaults } from './sender-defaults.js'
import type { ClosableSender, UndiciSenderOptions } from './undici-sender.js'

/**
 * As `createUndiciSender`; each post's time counts from when the sender is there.
 * @throws TypeError When a DNS server is not an IP address with or without a port, or a denied range is none.
 */
export function createLateSender(options: UndiciSenderOptions): ClosableSender {
  const { servers, denied, allowLoopbackHttp = senderDefaults.allowLoopbackHttp } = options
  // What is wrong with them is to be told now, not with the first post.
  createResolve({ servers, allowLoopback: allowLoopbackHttp })
  isInRanges(denied ?? [])
  let loading: Promise<ClosableSender> | undefined
  let loaded: ClosableSender | undefined
  let closed = false
  const load = async () => {
    const { createUndiciSender } = await import('./undici-sender.js')
    loaded = createUndiciSender(options)
    return loaded
  }
  return {
    post(post) {
      if (loaded !== undefined) return loaded.post(post)
      if (closed) return Promise.resolve({ kind: 'failure', reason: 'connection', latencyMs: 0 })
      loading ??= load()
      return loading.then((sender) => sender.post(post))
    },
    async close() {
      closed = true
      const sender = await loading
      await sender?.close()
    },
  }
}
