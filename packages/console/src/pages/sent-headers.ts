/** The headers of an attempt, from stored facts and without any secret. Source: docs/interface.md 6. @module */
import {
  integrationHeader,
  jsonContentType,
  notificationUserAgent,
  signatureHeader,
} from '@payment-integration/contract'

/** A name and a value. */
export type Header = readonly [name: string, value: string]

/** The headers whose values do not depend on the time. */
export const fixedHeaders = (integrationAddress: string): readonly Header[] => [
  ['Content-Type', jsonContentType],
  ['User-Agent', notificationUserAgent],
  [integrationHeader, integrationAddress],
]

/** Unix seconds of an attempt, as in its signature. */
export const timestampOf = (startedAt: number): number => Math.floor(startedAt / 1_000)

/**
 * The headers of an attempt as lines. `v1` is left out: no attempt stores it, and the console opens no secret to
 * compute it again.
 */
export function sentHeaders(integrationAddress: string, startedAt: number): string {
  const signature: Header = [signatureHeader, `t=${timestampOf(startedAt)},v1=(64 hex digits)`]
  return [...fixedHeaders(integrationAddress), signature].map(([name, value]) => `${name}: ${value}`).join('\n')
}

/** Reasons of attempts that ended before anything was sent. */
const unsent: ReadonlySet<string | null> = new Set(['refused_address', 'secret_unreadable'])

/** Whether an attempt reached the network. */
export const wasSent = ({ reason }: { readonly reason: string | null }): boolean => !unsent.has(reason)
