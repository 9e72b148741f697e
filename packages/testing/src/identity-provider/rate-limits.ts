/** Limits the rate of requests. Source: the provider's page on rate limits. @module */
import { Refusal } from './errors.js'

const windowMs = 5_000
const most: Readonly<Record<string, number>> = { GET: 300, POST: 50 }

/** Counts one request of a caller. @throws Refusal 429 when its window is full. */
export type CountRequest = (caller: string, method: string, now: number) => void

/** Makes the counter: per caller and window of 5 seconds, 300 GET and 50 POST requests. */
export function createRateLimits(): CountRequest {
  const counts = new Map<string, { readonly window: number; count: number }>()
  return (caller, method, now) => {
    const window = Math.floor(now / windowMs)
    const key = `${method} ${caller}`
    const known = counts.get(key)
    const current = known?.window === window ? known : { window, count: 0 }
    counts.set(key, current)
    current.count += 1
    if (current.count > (most[method] ?? Number.POSITIVE_INFINITY)) throw new Refusal(429, 'Too many requests')
  }
}
