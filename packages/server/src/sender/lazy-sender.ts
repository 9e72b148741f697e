/** Loads the sender at the first POST: its library takes longer to load than most commands run. @module */
import { createRangeCheck } from '../internal/address-ranges.js'
import { createResolve } from './resolve-name.js'
import { senderDefaults } from './sender-defaults.js'
import type { ClosableSender, UndiciSenderOptions } from './undici-sender.js'

/**
 * Like `createUndiciSender`; the timeout of a POST starts once the sender is loaded.
 * @throws TypeError When a DNS server is not an IP address with or without a port, or a denied range is malformed.
 */
export function createLazySender(options: UndiciSenderOptions): ClosableSender {
  const { servers, denied, allowLoopbackHttp = senderDefaults.allowLoopbackHttp } = options
  // Invalid options throw now, not at the first POST.
  createResolve({ servers, allowLoopback: allowLoopbackHttp })
  createRangeCheck(denied ?? [])
  let loading: Promise<ClosableSender> | undefined
  let loaded: ClosableSender | undefined
  let isClosed = false
  const load = async () => {
    const { createUndiciSender } = await import('./undici-sender.js')
    loaded = createUndiciSender(options)
    return loaded
  }
  return {
    post(post) {
      if (loaded !== undefined) return loaded.post(post)
      if (isClosed) return Promise.resolve({ kind: 'failure', reason: 'connection', latencyMs: 0 })
      loading ??= load().catch((error: unknown) => {
        // The next POST loads again.
        loading = undefined
        throw error
      })
      return loading.then((sender) => sender.post(post))
    },
    async close() {
      isClosed = true
      const sender = await loading
      await sender?.close()
    },
  }
}
