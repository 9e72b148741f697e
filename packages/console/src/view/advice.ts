/** Explains why an attempt failed, and names the remedy. @module */
import type { PostFailure } from '@payment-integration/core/ports'

const failureAdvice: Readonly<Record<PostFailure | 'secret_unreadable', string>> = {
  timeout: 'The receiver did not answer in time. Answer as soon as the delivery is stored, and do the work afterwards.',
  connection:
    'No connection, or it broke before an answer. Check that the receiver runs, that its name resolves, and that its certificate has this name.',
  rejected_address:
    'The URL leads to an address that is not public. Change the notification URL to a public address. Only PI_ENV=development allows this machine.',
  malformed_answer:
    'The answer was not well-formed HTTP/1.1. Check what writes it: lines end in CR LF, header names have no space, Content-Length appears once, and headers take at most 16 KB.',
  secret_unreadable:
    'The signing secret cannot be opened with the configured master keys. Add the master key that sealed it to PI_MASTER_KEY.',
}

const adviceByStatus: Readonly<Record<number, string>> = {
  400: 'The receiver found the request malformed. Verify the raw body, before any parser touches it.',
  401: 'The receiver rejected the signature. Check that it has the webhook secret, not the API secret.',
  403: 'The receiver, or something before it, forbids the request. Let POST requests pass the firewall.',
  404: 'The receiver has no route at this URL. Check the path of the notification URL.',
  405: 'The URL accepts no POST. Check the path of the notification URL, and its route.',
  408: 'The receiver, or a proxy before it, waited too long for the body. Read the whole body before other work, and check the proxy.',
  410: 'The URL is gone. Set the new notification URL, or disable the integration.',
  413: 'The receiver does not accept a body of this size. Raise its limit: deliveries are a few kilobytes.',
  415: 'The receiver does not accept this content type. Accept application/json, and read the raw body.',
  422: 'The receiver does not understand the snapshot. Accept unknown fields and values; each field of the contract is always present.',
  429: 'The receiver limits requests. Raise its limit for this service.',
  502: "A proxy got no answer from the receiver. Check the receiver's log: it may be down.",
  503: 'The receiver is busy or down. Check its log. Retries continue automatically.',
  504: "A proxy waited too long for the receiver. Answer as soon as the delivery is stored. Look at the receiver's log.",
}

const adviceByReason: ReadonlyMap<string, string> = new Map(Object.entries(failureAdvice))

/** The cause and the remedy of a failed attempt; null for one that succeeded, which has no `reason`. */
export function findAdvice(status: number | null, reason: string | null): string | null {
  if (reason === null) return null
  const advice = adviceByReason.get(reason) ?? (status === null ? undefined : adviceByStatus[status])
  if (advice !== undefined) return advice
  if (status === null) return 'No answer arrived. Look at the log of the receiver.'
  if (status >= 300 && status < 400)
    return `The receiver answered ${status}: a redirect, such as /hook to /hook/. Change the notification URL to where it leads: redirects are not followed.`
  if (status >= 500) return `The receiver failed with ${status}. Look at its log at the time of the attempt.`
  return `The receiver answered ${status}. Answer 2xx once the delivery is stored.`
}
