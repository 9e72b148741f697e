/** The answer to a caller over its rate limit. Source: docs/decisions/rate-limits.md. @module */
import { tooManyRequestsBody } from '@payment-integration/contract'
import { jsonAnswer } from './json-answer.js'

/** 429, with `Retry-After` in whole seconds, at least 1. */
export function tooManyRequests(waitMs: number): Response {
  return jsonAnswer(tooManyRequestsBody, 429, { 'Retry-After': String(Math.max(1, Math.ceil(waitMs / 1_000))) })
}
