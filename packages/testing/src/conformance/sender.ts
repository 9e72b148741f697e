/** The suite that every sender passes. Source: the Sender port. @module */

import type { Post, Sender } from '@payment-integration/core/ports'
import { afterAll, afterEach, describe, expect, test } from 'vitest'

/** A request as a receiver got it. Names of headers are lowercased. */
export interface ReceivedPost {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/** What a receiver does with a request: answers it, or leaves it without an answer. */
export type ReceiverAnswer =
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string }
  | 'hang'

/** A sender under test, with receivers that it can reach. */
export interface SenderSubject {
  readonly sender: Sender
  /** Starts a receiver on a real port, and resolves its URL. */
  receive(answer: (post: ReceivedPost) => ReceiverAnswer): Promise<{ readonly url: string; close(): Promise<void> }>
  close(): Promise<void>
}

/** Longest excerpt, in characters. */
const mostExcerpt = 1_024
const body = new TextEncoder().encode('{"txHash":"0x1","note":"Käse"}')

/**
 * Registers the tests of the Sender port with vitest.
 * @param adapter - Names the tests.
 * @example senderConformance('undici', async () => ({ sender, receive, close }))
 */
export function senderConformance(adapter: string, open: () => Promise<SenderSubject>): void {
  let opened: Promise<SenderSubject> | null = null
  const closing: (() => Promise<void>)[] = []
  const subject = () => {
    opened ??= open()
    return opened
  }
  async function receive(answer: (post: ReceivedPost) => ReceiverAnswer): Promise<string> {
    const receiver = await (await subject()).receive(answer)
    closing.push(() => receiver.close())
    return receiver.url
  }
  const post = async (url: string, given: Partial<Post> = {}) =>
    (await subject()).sender.post({ url, headers: { 'X-Test': 'yes' }, body, timeoutMs: 60_000, ...given })

  describe(`${adapter}: a sender`, () => {
    afterEach(async () => {
      for (const close of closing.splice(0)) await close()
    })
    afterAll(async () => {
      await (await opened)?.close()
    })

    test('posts exactly the given bytes and headers', async () => {
      const received: ReceivedPost[] = []
      const url = await receive((each) => {
        received.push(each)
        return { status: 204 }
      })
      expect(await post(url)).toMatchObject({ kind: 'answer', status: 204, retryAfter: null })
      expect(received).toHaveLength(1)
      expect(received[0]).toMatchObject({ method: 'POST', headers: { 'x-test': 'yes' } })
      expect(received[0]?.body).toEqual(body)
    })

    test.each([200, 204, 299, 400, 401, 404, 410, 429, 500, 503])('reports %i as it is', async (status) => {
      const url = await receive(() => ({ status, headers: { 'Retry-After': '17' } }))
      expect(await post(url)).toMatchObject({ kind: 'answer', status, retryAfter: '17' })
    })

    test.each([301, 302, 303, 307, 308])('does not follow %i', async (status) => {
      let followed = 0
      const target = await receive(() => {
        followed += 1
        return { status: 204 }
      })
      const url = await receive(() => ({ status, headers: { Location: target } }))
      expect(await post(url)).toMatchObject({ kind: 'answer', status })
      expect(followed).toBe(0)
    })

    test('cuts the body to an excerpt without control characters', async () => {
      const url = await receive(() => ({ status: 500, body: `a\u0000b\u001b${'x'.repeat(100_000)}` }))
      const result = await post(url)
      const excerpt = result.kind === 'answer' ? (result.excerpt ?? '') : ''
      expect(excerpt.length).toBeLessThanOrEqual(mostExcerpt)
      expect(excerpt).toContain('xxxx')
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones that must not come
      expect(excerpt).not.toMatch(/[\u0000\u001b]/)
    })

    test('ends a post whose time is over as a timeout, and never rejects', async () => {
      const url = await receive(() => 'hang')
      expect(await post(url, { timeoutMs: 50 })).toMatchObject({ kind: 'failure', reason: 'timeout' })
    })

    test('ends a post that is aborted', async () => {
      const stop = new AbortController()
      const url = await receive(() => {
        stop.abort()
        return 'hang'
      })
      expect(await post(url, { signal: stop.signal })).toMatchObject({ kind: 'failure' })
    })

    test('reports a receiver that is gone as a failed connection', async () => {
      const receiver = await (await subject()).receive(() => ({ status: 204 }))
      await receiver.close()
      expect(await post(receiver.url)).toMatchObject({ kind: 'failure', reason: 'connection' })
    })

    test.each(['', 'no URL', 'ftp://127.0.0.1/', 'http://'])('does not reject for the URL %j', async (url) => {
      expect(await post(url)).toMatchObject({ kind: 'failure' })
    })
  })
}
