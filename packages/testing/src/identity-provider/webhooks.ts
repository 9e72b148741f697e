/** Queues, sends and retries webhooks. Source: the provider's webhook manager. @module */
import { createHmac } from 'node:crypto'
import type { ApplicantRecord } from './applicants.js'
import { toMilliseconds, toSecondsWithOffset } from './applicants.js'
import type { DigestAlgorithm, WebhookTarget } from './authenticate.js'

export interface WebhookDelivery {
  readonly type: string
  readonly applicantId: string
  readonly url: string
  /** Number of earlier attempts. */
  readonly attempts: number
  /** The body, the same in each attempt. */
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
  /** The status of the receiver, or null without an answer. */
  readonly status: number | null
}

/** The waits before the retries of a failed webhook, in milliseconds. After the last retry the webhook is dropped. */
const resendsAfter = [5 * 60_000, 60 * 60_000, 5 * 60 * 60_000, 18 * 60 * 60_000]

const hashes: Readonly<Record<DigestAlgorithm, string>> = {
  HMAC_SHA1_HEX: 'sha1',
  HMAC_SHA256_HEX: 'sha256',
  HMAC_SHA512_HEX: 'sha512',
}

interface Entry extends Pick<WebhookDelivery, 'type' | 'applicantId' | 'url' | 'body'> {
  readonly target: WebhookTarget
  dueAt: number
  attempts: number
  /** Whether a run is sending this webhook, so that no other run sends it. */
  isBeingSent: boolean
}

/** Creates the queue of webhooks. Events are at least a millisecond apart, even when the clock stands still. */
export function createWebhooks(outside: {
  readonly now: () => number
  readonly newId: () => string
  readonly timeoutMs: number
  readonly send: (request: Request) => Promise<Response>
}) {
  const { now, newId, timeoutMs } = outside
  let waiting: Entry[] = []
  let lastAt = Number.NEGATIVE_INFINITY
  const sent: WebhookDelivery[] = []

  async function send(entry: Entry): Promise<WebhookDelivery> {
    const { type, applicantId, url, attempts, body, target } = entry
    const headers = signedHeaders(target, body)
    const post = async () => {
      const signal = AbortSignal.timeout(timeoutMs)
      const response = await outside.send(
        new Request(url, { method: 'POST', headers, body, redirect: 'manual', signal }),
      )
      await response.arrayBuffer()
      return response.status
    }
    // A malformed URL, too, counts as no answer.
    const status = await post().catch(() => null)
    const delivery = { type, applicantId, url, attempts, body, headers, status }
    sent.push(delivery)
    return delivery
  }

  function settle(entry: Entry, wasAccepted: boolean): void {
    const after = resendsAfter[entry.attempts]
    entry.attempts += 1
    entry.isBeingSent = false
    if (wasAccepted || after === undefined) waiting = waiting.filter((each) => each !== entry)
    else entry.dueAt = now() + after
  }

  return {
    sent,
    /** Queues the webhook of an event for each target that selects its type. */
    make(
      targets: readonly WebhookTarget[],
      applicant: ApplicantRecord,
      type: string,
      sandboxMode: boolean,
      fields: Readonly<Record<string, unknown>>,
    ) {
      lastAt = Math.max(now(), lastAt + 1)
      const body = JSON.stringify({
        applicantId: applicant.id,
        inspectionId: applicant.inspectionId,
        applicantType: 'individual',
        correlationId: `req-${newId()}`,
        levelName: applicant.levelName,
        sandboxMode,
        externalUserId: applicant.externalUserId,
        type,
        ...(applicant.reviewResult === null ? {} : { reviewResult: applicant.reviewResult }),
        reviewStatus: applicant.reviewStatus,
        createdAt: toSecondsWithOffset(lastAt),
        createdAtMs: toMilliseconds(lastAt),
        clientId: applicant.clientId,
        ...fields,
      })
      const entry = { type, applicantId: applicant.id, attempts: 0, body, dueAt: now(), isBeingSent: false }
      for (const target of targets)
        if (target.types === undefined || target.types.includes(type))
          waiting.push({ ...entry, target, url: target.url })
    },
    /** Sends the due webhooks, one at a time. */
    async deliver() {
      const due = waiting.filter(({ dueAt, isBeingSent }) => dueAt <= now() && !isBeingSent)
      for (const entry of due) entry.isBeingSent = true
      const deliveries: WebhookDelivery[] = []
      for (const entry of due) {
        const delivery = await send(entry)
        deliveries.push(delivery)
        settle(entry, Math.floor(Number(delivery.status) / 100) === 2)
      }
      return deliveries
    },
    /** Drops the waiting webhooks and returns their number. */
    lose() {
      const { length } = waiting
      waiting = []
      return length
    },
    /** Time at which the next webhook is due, except those that are being sent; null: none. */
    nextAt() {
      const times = waiting.flatMap(({ dueAt, isBeingSent }) => (isBeingSent ? [] : dueAt))
      return times.length === 0 ? null : Math.min(...times)
    },
  }
}

function signedHeaders({ secretKey, algorithm = 'HMAC_SHA256_HEX' }: WebhookTarget, body: string) {
  return {
    'Content-Type': 'application/json',
    'X-Payload-Digest': createHmac(hashes[algorithm], secretKey).update(body).digest('hex'),
    'X-Payload-Digest-Alg': algorithm,
  }
}
