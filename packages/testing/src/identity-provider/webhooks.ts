/** Queues, sends and retries webhooks. Source: the provider's webhook manager. @module */
import { createHmac } from 'node:crypto'
import type { ApplicantRecord } from './applicants.js'
import { formatWithMilliseconds, formatWithOffset } from './applicants.js'
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
const retryDelaysMs = [5 * 60_000, 60 * 60_000, 5 * 60 * 60_000, 18 * 60 * 60_000]

const hashNames: Readonly<Record<DigestAlgorithm, string>> = {
  HMAC_SHA1_HEX: 'sha1',
  HMAC_SHA256_HEX: 'sha256',
  HMAC_SHA512_HEX: 'sha512',
}

interface QueuedWebhook extends Pick<WebhookDelivery, 'type' | 'applicantId' | 'url' | 'body'> {
  readonly target: WebhookTarget
  attempts: number
  dueAt: number
}

/** Creates the queue of webhooks. Events are at least a millisecond apart, even when the clock stands still. */
export function createWebhookQueue(deps: {
  readonly clock: { now(): number }
  readonly newId: () => string
  readonly timeoutMs: number
  readonly send: (request: Request) => Promise<Response>
  /** Whether due webhooks are sent without a call of `sendDue`. */
  readonly isAutomatic: boolean
}) {
  const { clock, newId, timeoutMs, isAutomatic } = deps
  let queue: QueuedWebhook[] = []
  /** Webhooks of the queue that a run is sending, so that no other run sends them. */
  const inFlight = new Set<QueuedWebhook>()
  let lastEventAt = Number.NEGATIVE_INFINITY
  let timer: NodeJS.Timeout | undefined
  let isClosed = false
  const sent: WebhookDelivery[] = []

  async function send({ type, applicantId, url, attempts, body, target }: QueuedWebhook): Promise<WebhookDelivery> {
    const headers = signHeaders(target, body)
    const post = async () => {
      const signal = AbortSignal.timeout(timeoutMs)
      const response = await deps.send(new Request(url, { method: 'POST', headers, body, redirect: 'manual', signal }))
      await response.arrayBuffer()
      return response.status
    }
    // A malformed URL, too, counts as no answer.
    const status = await post().catch(() => null)
    const delivery = { type, applicantId, url, attempts, body, headers, status }
    sent.push(delivery)
    return delivery
  }

  async function sendDue(): Promise<WebhookDelivery[]> {
    const due = queue.filter((webhook) => webhook.dueAt <= clock.now() && !inFlight.has(webhook))
    for (const webhook of due) inFlight.add(webhook)
    const deliveries: WebhookDelivery[] = []
    for (const webhook of due) {
      if (!queue.includes(webhook)) continue // dropped since the run began
      const delivery = await send(webhook)
      deliveries.push(delivery)
      inFlight.delete(webhook)
      const delayMs = retryDelaysMs[webhook.attempts]
      if (Math.floor(Number(delivery.status) / 100) === 2 || delayMs === undefined)
        queue = queue.filter((each) => each !== webhook)
      else Object.assign(webhook, { attempts: webhook.attempts + 1, dueAt: clock.now() + delayMs })
    }
    scheduleNext()
    return deliveries
  }

  function scheduleNext(): void {
    clearTimeout(timer)
    const dueAt = getNextDueAt()
    if (isClosed || !isAutomatic || dueAt === null) return
    timer = setTimeout(() => void sendDue(), Math.max(0, dueAt - clock.now()))
    timer.unref()
  }

  /** Time at which the next webhook is due, except those in flight; null: none. */
  function getNextDueAt(): number | null {
    const times = queue.flatMap((webhook) => (inFlight.has(webhook) ? [] : webhook.dueAt))
    return times.length === 0 ? null : Math.min(...times)
  }

  return {
    sent,
    sendDue,
    getNextDueAt,
    /** Queues the webhook of an event for each target that selects its type. */
    enqueue(
      targets: readonly WebhookTarget[],
      applicant: ApplicantRecord,
      type: string,
      sandboxMode: boolean,
      fields: Readonly<Record<string, unknown>>,
    ) {
      lastEventAt = Math.max(clock.now(), lastEventAt + 1)
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
        createdAt: formatWithOffset(lastEventAt),
        createdAtMs: formatWithMilliseconds(lastEventAt),
        clientId: applicant.clientId,
        ...fields,
      })
      const webhook = { type, applicantId: applicant.id, attempts: 0, body, dueAt: clock.now() }
      for (const target of targets)
        if (target.types === undefined || target.types.includes(type))
          queue.push({ ...webhook, target, url: target.url })
      scheduleNext()
    },
    /** Drops the waiting webhooks and those in flight, and returns their number. */
    dropAll() {
      const { length } = queue
      queue = []
      inFlight.clear()
      return length
    },
    /** Ends the automatic sending. */
    close() {
      isClosed = true
      clearTimeout(timer)
    },
  }
}

function signHeaders({ secretKey, algorithm = 'HMAC_SHA256_HEX' }: WebhookTarget, body: string) {
  return {
    'Content-Type': 'application/json',
    'X-Payload-Digest': createHmac(hashNames[algorithm], secretKey).update(body).digest('hex'),
    'X-Payload-Digest-Alg': algorithm,
  }
}
