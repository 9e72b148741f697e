/** The operations of a history: how each is called and printed. @module */
import type { DirectVerification, Service, ShareCall, WebhookEvent } from './system-under-test.js'

export type Call =
  | { readonly kind: 'register'; readonly address: string }
  | { readonly kind: 'prove'; readonly address: string; readonly accountId: string | undefined }
  | { readonly kind: 'attest'; readonly address: string; readonly integration: string; accountId: string | undefined }
  | { readonly kind: 'direct'; readonly direct: DirectVerification }
  | { readonly kind: 'share'; readonly request: ShareCall }
  | { readonly kind: 'webhook'; readonly event: WebhookEvent }
  | { readonly kind: 'poll' }
  | { readonly kind: 'operator'; readonly externalUserId: string; readonly applicantId: string | null }

/** An operation of a process. */
export interface Operation {
  readonly number: number
  readonly process: number
  readonly call: Call
  readonly calledAt: number
  state: 'running' | 'done' | 'failed' | 'killed'
  /** The outcome, or the reason of the failure. */
  outcome: unknown
}

export async function perform(service: Service, call: Call): Promise<unknown> {
  switch (call.kind) {
    case 'register':
      return service.register(call.address)
    case 'prove':
      return service.prove(call.address, call.accountId)
    case 'attest':
      return service.attest(call.address, call.integration, call.accountId)
    case 'direct':
      return service.recordDirect(call.direct)
    case 'share':
      return service.share(call.request)
    case 'webhook':
      return service.webhook(call.event)
    case 'poll':
      return service.poll()
    case 'operator':
      return service.operatorResolves(call.externalUserId, call.applicantId)
  }
}

/** A time in a history: seconds since its start. */
export const seconds = (at: number) => `${((at - Date.UTC(2026, 0, 1)) / 1000).toFixed(3)} s`

export function format(call: Call): string {
  switch (call.kind) {
    case 'register':
      return `register ${call.address}`
    case 'prove':
      return `prove ${call.address} for ${call.accountId ?? 'whom it belongs to'}`
    case 'attest':
      return `attest ${call.address} by ${call.integration} for ${call.accountId ?? 'whom it belongs to'}`
    case 'direct':
      return `direct verification of ${call.direct.accountId}, ${call.direct.review.reviewAnswer}, at ${seconds(call.direct.at)}`
    case 'share':
      return `share ${call.request.address} by ${call.request.integration} with ${call.request.token}`
    case 'webhook':
      return `webhook ${call.event.key}: ${call.event.applicantId} is ${call.event.review.reviewAnswer} at ${seconds(call.event.at)}`
    case 'poll':
      return 'poll'
    case 'operator':
      return `operator says ${call.externalUserId} became ${call.applicantId ?? 'nothing'}`
  }
}
