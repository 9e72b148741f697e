/** Says in words why an attempt failed, and what to do. @module */
import type { PostFailure } from '@payment-integration/core/ports'

/** A cause and a remedy. */
export interface Advice {
  readonly cause: string
  readonly remedy: string
}

/** Reasons of attempts without a usable answer. */
const withoutAnswer: Readonly<Record<PostFailure | 'secret_unreadable', Advice>> = {
  timeout: {
    cause: 'The receiver did not answer in time.',
    remedy: 'Answer as soon as the delivery is stored, and do the work afterwards.',
  },
  connection: {
    cause: 'No connection, or it broke before an answer.',
    remedy: 'Check that the receiver runs, that its name resolves, and that its certificate is valid for it.',
  },
  refused_address: {
    cause: 'The URL leads to an address that is not public.',
    remedy: 'Change the notification URL to a public address. Development alone allows this machine.',
  },
  malformed_answer: {
    cause: 'The answer was not well-formed HTTP/1.1.',
    remedy:
      'Look at what writes it: lines must end in CR LF, a field name has no space, one Content-Length is enough, and a head has at most 16 KB.',
  },
  secret_unreadable: {
    cause: 'The signing secret cannot be opened with the configured master keys.',
    remedy: 'Add the master key that sealed it to PI_MASTER_KEY.',
  },
}

const byStatus: Readonly<Record<number, Advice>> = {
  400: {
    cause: 'The receiver found the request malformed.',
    remedy: 'Verify the raw body, before any parser touches it.',
  },
  401: {
    cause: 'The receiver rejected the signature.',
    remedy: 'Check that it has the webhook secret, not the API secret.',
  },
  403: {
    cause: 'The receiver, or something before it, forbids the request.',
    remedy: 'Let POST requests pass the firewall.',
  },
  404: { cause: 'There is no page at the URL.', remedy: 'Check the path of the notification URL.' },
  405: { cause: 'The URL accepts no POST.', remedy: 'Check the path of the notification URL, and its route.' },
  408: {
    cause: 'The receiver, or a proxy before it, waited too long for the body.',
    remedy: 'Read the whole body before other work, and check the proxy.',
  },
  410: { cause: 'The URL is gone.', remedy: 'Set the new notification URL, or disable the integration.' },
  413: {
    cause: 'The receiver accepts no body of this size.',
    remedy: 'Raise its limit; deliveries have a few kilobytes.',
  },
  415: {
    cause: 'The receiver does not take this type of content.',
    remedy: 'Let it take application/json, and read the raw body.',
  },
  422: {
    cause: 'The receiver does not understand the snapshot.',
    remedy: 'Accept unknown fields and values; each field of the contract is always present.',
  },
  429: { cause: 'The receiver limits requests.', remedy: 'Raise its limit for this service.' },
  502: { cause: 'A proxy got no answer of the receiver.', remedy: 'Look at its log: the receiver may be down.' },
  503: { cause: 'The receiver is busy or down.', remedy: 'Look at its log; more retries follow by themselves.' },
  504: {
    cause: 'A proxy waited too long for the receiver.',
    remedy: 'Answer as soon as the delivery is stored. Look at its log.',
  },
}

const byReason: ReadonlyMap<string, Advice> = new Map(Object.entries(withoutAnswer))
const unknownReason: Advice = { cause: 'No answer arrived.', remedy: 'Look at the log of the receiver.' }

/** The cause and remedy of a failure. `reason` is null after a success, which needs none. */
export function adviceOf(status: number | null, reason: string | null): Advice | null {
  if (reason === null) return null
  const without = byReason.get(reason)
  if (status === null || without !== undefined) return without ?? unknownReason
  const known = byStatus[status]
  if (known !== undefined) return known
  if (status >= 300 && status < 400)
    return {
      cause: `The receiver answered ${status}: a redirect, such as /hook to /hook/.`,
      remedy: 'Change the notification URL to where it leads: redirects are not followed.',
    }
  if (status >= 500)
    return { cause: `The receiver failed with ${status}.`, remedy: 'Look at its log at the time of the attempt.' }
  return { cause: `The receiver answered ${status}.`, remedy: 'Answer 2xx once the delivery is stored.' }
}
