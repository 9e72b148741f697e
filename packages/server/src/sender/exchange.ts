/** One request and its answer, under one time budget. Source: INTERFACE 6 (5 seconds, any 2xx). @module */
import { TIMEOUT } from 'node:dns'
import type { Post, PostFailure, PostResult } from '@payment-integration/core'
import { type Dispatcher, errors } from 'undici'
import { BudgetSpentError } from '../internal/budget.js'
import { AddressRefusedError } from './address-refused-error.js'
import { createExcerpt } from './excerpt.js'

/** Where a request goes. */
export interface Target {
  readonly origin: string
  /** Path and query. */
  readonly path: string
}

/** Most bytes of a body, and of a head, that are read. A longer body ends its connection. */
export const readBytes = 16 * 1024

/**
 * Posts and waits for the answer: until its body ended, broke, was longer than {@link readBytes}, or the budget was spent,
 * which began at `startedAt` (of `performance.now()`). The status decides: once it arrived in time, the body cannot change
 * the result. Never rejects.
 *
 * Takes undici's events instead of its promise of a stream: the body is not needed as one, and the budget also ends a wait
 * for a connection, which an abort signal does not.
 */
export function exchange(agent: Dispatcher, target: Target, post: Post, startedAt: number): Promise<PostResult> {
  const { headers, body, timeoutMs, signal } = post
  return new Promise((resolve) => {
    const excerpt = createExcerpt()
    let controller: Dispatcher.DispatchController | undefined
    let answer: { status: number; retryAfter: string | null; latencyMs: number } | undefined
    let isOver = false

    const latencyMs = () => Math.round(performance.now() - startedAt)
    function settle(error: unknown): void {
      if (isOver) return
      isOver = true
      clearTimeout(timer)
      signal?.removeEventListener('abort', giveUp)
      if (answer !== undefined) resolve({ kind: 'answer', ...answer, excerpt: excerpt.text() })
      else resolve({ kind: 'failure', reason: reasonOf(error), latencyMs: latencyMs() })
    }
    /** Settles with what is there, and ends the connection. */
    function end(error: Error): void {
      settle(error)
      controller?.abort(error)
    }
    const giveUp = () => end(new Error('The caller gave up.'))
    const timer = setTimeout(() => end(new BudgetSpentError()), timeoutMs)
    if (signal?.aborted === true) return giveUp()
    signal?.addEventListener('abort', giveUp, { once: true })

    const options = { ...target, method: 'POST', headers, body } as const
    agent.dispatch(options, {
      onRequestStart(started) {
        controller = started
        if (isOver) started.abort(new BudgetSpentError())
      },
      onResponseStart(_controller, status, fields) {
        if (status < 200) return
        const retryAfter = fields['retry-after']
        answer = {
          status,
          retryAfter: (Array.isArray(retryAfter) ? retryAfter[0] : retryAfter) ?? null,
          latencyMs: latencyMs(),
        }
        // Too long by its own word: what came together with the head is kept.
        if (Number(fields['content-length']) > readBytes) setImmediate(() => end(new Error('The body is too long.')))
      },
      onResponseData(_controller, chunk) {
        excerpt.add(chunk)
        if (excerpt.size() > readBytes) end(new Error('The body is too long.'))
      },
      onResponseEnd: () => settle(null),
      onResponseError: (_controller, error) => settle(error),
    })
  })
}

function reasonOf(error: unknown): PostFailure {
  if (error instanceof AddressRefusedError) return 'refused_address'
  if (error instanceof BudgetSpentError || error instanceof errors.ConnectTimeoutError) return 'timeout'
  return (error as NodeJS.ErrnoException | null)?.code === TIMEOUT ? 'timeout' : 'connection'
}
