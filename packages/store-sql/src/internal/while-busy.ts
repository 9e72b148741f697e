/** Runs work again that a lock prevented. @module */
import { setTimeout as delay } from 'node:timers/promises'
import { StoreError } from '@payment-integration/core'

/** Longest wait of a transaction for locks, in milliseconds: statements of others queue behind it meanwhile. */
export const lockMs = 1_000
/** Pause before the next attempt, so that the queue empties. */
const pauseMs = 2_000
/** Most attempts: about half an hour. */
const mostAttempts = 600

/**
 * Runs `work` again when a lock, a connection or a conflict prevented it.
 * @param onWait - Called before each pause.
 */
export async function whileBusy<T>(work: () => Promise<T>, onWait: () => void = () => undefined): Promise<T> {
  for (let attempt = 1; ; attempt += 1)
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof StoreError && error.code === 'ERR_STORE_BUSY') || attempt === mostAttempts) throw error
      onWait()
      await delay(pauseMs)
    }
}
