/**
 * Webhooks: made when something happens, sent when they are due, sent again when they fail. Source: the provider's
 * webhook manager.
 * @module
 */
import { createHmac } from 'node:crypto'
import type { ApplicantRecord } from './applicants.js'
import { toMilliseconds, toSecondsWithOffset } from './internal/times.js'
import type { DigestAlgorithm, WebhookTarget } from './options.js'

/** One webhook that waits to be sent. */
export interface DueWebhook {
  readonly type: string
  readonly applicantId: string
  readonly url: string
  /** How often it was sent before. */
  readonly attempts: number
  /** The body that is sent, the same each time. */
  readonly body: string
}

/** One webhook that was sent. */
export interface WebhookDelivery extends DueWebhook {
  readonly headers: Readonly<Record<string, string>>
  /** What the receiver answered, or null when it did not. */
  readonly status: number | null
}

/** How a run of deliveries goes. */
export interface WebhookRun {
  /** How often each is sent. @default 1 */
  readonly copies?: number | undefined
  /** Changes the order, repeats or leaves out; what is left out stays due. @default as they were made */
  readonly arrange?: ((due: readonly DueWebhook[]) => readonly DueWebhook[]) | undefined
}

/** After how long a failed webhook is sent again, in milliseconds. After the last it is given up. */
const resendsAfter = [5 * 60_000, 60 * 60_000, 5 * 60 * 60_000, 18 * 60 * 60_000]

const hashes: Readonly<Record<DigestAlgorithm, string>> = {
  HMAC_SHA1_HEX: 'sha1',
  HMAC_SHA256_HEX: 'sha256',
  HMAC_SHA512_HEX: 'sha512',
}

interface Entry extends DueWebhook {
  readonly target: WebhookTarget
  dueAt: number
  attempts: number
  /** A run that is still under way sends it: no other run does. */
  isBeingSent: boolean
}

/** The webhooks of all clients. */
export interface Webhooks {
  /** Makes the webhook of an event for each target that wants it. */
  make(
    targets: readonly WebhookTarget[],
    applicant: ApplicantRecord,
    type: string,
    sandboxMode: boolean,
    fields: Readonly<Record<string, unknown>>,
  ): void
  /** Sends what is due, one after the other. */
  deliver(run?: WebhookRun): Promise<WebhookDelivery[]>
  /** Forgets what waits; resolves to how many were lost. */
  lose(): number
  /** When the next is due, or null when none waits. */
  nextAt(): number | null
  readonly sent: readonly WebhookDelivery[]
}

/** Builds the webhooks. Two events are at least a millisecond apart, whatever the clock says. */
export function createWebhooks(outside: {
  readonly now: () => number
  readonly newId: () => string
  readonly timeoutMs: number
}): Webhooks {
  const { now, newId, timeoutMs } = outside
  let waiting: Entry[] = []
  let lastAt = Number.NEGATIVE_INFINITY
  const sent: WebhookDelivery[] = []

  async function send(entry: Entry): Promise<WebhookDelivery> {
    const { type, applicantId, url, attempts, body, target } = entry
    const headers = signedHeaders(target, body)
    const signal = AbortSignal.timeout(timeoutMs)
    const status = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal })
      .then(async (response) => {
        await response.arrayBuffer()
        return response.status
      })
      .catch(() => null)
    const delivery = { type, applicantId, url, attempts, body, headers, status }
    sent.push(delivery)
    return delivery
  }

  function settle(entry: Entry, wasTaken: boolean): void {
    const after = entry.target.resends === false ? undefined : resendsAfter[entry.attempts]
    entry.attempts += 1
    entry.isBeingSent = false
    if (wasTaken || after === undefined) waiting = waiting.filter((each) => each !== entry)
    else entry.dueAt = now() + after
  }

  return {
    sent,
    make(targets, applicant, type, sandboxMode, fields) {
      lastAt = Math.max(now(), lastAt + 1)
      const body = JSON.stringify({ ...eventBody(applicant, type, sandboxMode, lastAt, newId()), ...fields })
      for (const target of targets)
        if (target.types === undefined || target.types.includes(type))
          waiting.push({
            target,
            type,
            applicantId: applicant.id,
            url: target.url,
            attempts: 0,
            body,
            dueAt: now(),
            isBeingSent: false,
          })
    },
    async deliver({ copies = 1, arrange = asMade }: WebhookRun = {}) {
      const due = waiting.filter(({ dueAt, isBeingSent }) => dueAt <= now() && !isBeingSent)
      const arranged = arrange(due).flatMap((each) => Array.from({ length: copies }, () => each as Entry))
      for (const entry of arranged) entry.isBeingSent = true
      const taken = new Map<Entry, boolean>()
      const deliveries: WebhookDelivery[] = []
      for (const entry of arranged) {
        const delivery = await send(entry)
        deliveries.push(delivery)
        taken.set(entry, (taken.get(entry) ?? false) || isSuccess(delivery.status))
      }
      for (const [entry, wasTaken] of taken) settle(entry, wasTaken)
      return deliveries
    },
    lose() {
      const { length } = waiting
      waiting = []
      return length
    },
    nextAt: () => (waiting.length === 0 ? null : Math.min(...waiting.map(({ dueAt }) => dueAt))),
  }
}

function asMade(due: readonly DueWebhook[]): readonly DueWebhook[] {
  return due
}

function isSuccess(status: number | null): boolean {
  return status !== null && status >= 200 && status <= 299
}

function signedHeaders({ secretKey, algorithm = 'HMAC_SHA256_HEX' }: WebhookTarget, body: string) {
  return {
    'Content-Type': 'application/json',
    'X-Payload-Digest': createHmac(hashes[algorithm], secretKey).update(body).digest('hex'),
    'X-Payload-Digest-Alg': algorithm,
  }
}

function eventBody(
  applicant: ApplicantRecord,
  type: string,
  sandboxMode: boolean,
  at: number,
  id: string,
): Record<string, unknown> {
  return {
    applicantId: applicant.id,
    inspectionId: applicant.inspectionId,
    applicantType: 'individual',
    correlationId: `req-${id}`,
    levelName: applicant.levelName,
    sandboxMode,
    externalUserId: applicant.externalUserId,
    type,
    ...(applicant.reviewResult === null ? {} : { reviewResult: applicant.reviewResult }),
    reviewStatus: applicant.reviewStatus,
    createdAt: toSecondsWithOffset(at),
    createdAtMs: toMilliseconds(at),
    clientId: applicant.clientId,
  }
}
