/** The events of a demo run, and the defaults of its options. @module */

export const devDefaults = {
  everyMs: 3_000,
  everyMsUntilIdle: 200,
  deadlineMs: 60_000,
  port: 4747,
  env: '.env.local',
} as const

type Texts<Name extends string> = Readonly<Record<Name, string>>

interface PaymentReference {
  readonly chainId: string
  readonly txHash: string
}

/** All parts run; the first payment follows. The secrets are valid for this run only. */
export interface ReadyEvent {
  readonly event: 'ready'
  readonly version: string
  readonly readyMs: number
  readonly url: string
  readonly integrationAddress: string
  readonly apiSecret: string
  readonly signingSecret: string
  readonly legacyApiKey: string
  /** The merchant's account. Every payment is paid to its address, in this token. */
  readonly accountHandle: string
  readonly accountAddress: string
  readonly tokenSymbol: string
  readonly receiverUrl: string
  /** The user's receiver, to which the built-in receiver forwards each delivery; null: none. */
  readonly forwardsTo: string | null
  /** The local identity provider. It approves shared verifications after a moment. */
  readonly identityProviderUrl: string
  /** POST `shareRequest` to this URL; the answer is the state of the verification. */
  readonly shareUrl: string
  /** The request that shares a user's verification; its token is valid once, for a week. */
  readonly shareRequest: { readonly email: string; readonly kycShareToken: string }
  /** The arguments of `mintShareToken` for another token of the user whom the demo shop has verified. */
  readonly minting: Texts<'baseUrl' | 'appToken' | 'secretKey' | 'applicantId' | 'forClientId'>
  /** POST a scenario to this URL to cause its events: docs/decisions/trigger-and-listen.md. */
  readonly triggerUrl: string
  readonly rpcUrl: string
  readonly chainId: string
  readonly router: string
  /** Contract version of the router, such as `0.8`. */
  readonly routerVersion: string
  readonly folder: string
  readonly kept: boolean
  readonly seed: number
}

/** The service posted a notification; `receiver` is the receiver's own log line about it. */
export interface DeliveryEvent extends PaymentReference {
  readonly event: 'delivery.attempted'
  readonly version: number
  readonly attempt: number
  readonly status: number | null
  readonly reason: string | null
  readonly latencyMs: number
  readonly outcome: string
  readonly retryInMs: number | null
  readonly receiver: string | null
}

/** The file with the values of this run was written, or kept: the user has set a value, or it is not UTF-8. */
export interface EnvFileEvent {
  readonly event: 'env.file'
  readonly kind: 'written' | 'kept'
  readonly path: string
  /** Whether a `.gitignore` in the same folder ignores the file. */
  readonly ignored: boolean
}

/** The payment is final and delivered, and the API agrees with the receiver's copy. */
export interface VerifiedEvent extends PaymentReference {
  readonly event: 'payment.verified'
  readonly number: number
  readonly version: number
  readonly state: string | null
  /** Milliseconds from sending the transaction to the comparison. */
  readonly tookMs: number
}

/** The first payment is verified: its requests to the legacy API, and the URL of the API reference. */
export interface LegacyReadyEvent extends PaymentReference {
  readonly event: 'legacy.ready'
  /** Value of the `Authorization` header for both endpoints. */
  readonly legacyApiKey: string
  /** GET this URL for the transaction. */
  readonly lookupUrl: string
  /** POST `verifyRequest` to this URL; the answer is 200. */
  readonly verifyUrl: string
  readonly verifyRequest: { readonly chainId: number } & Texts<
    'txHash' | 'invoiceAmount' | 'invoiceCurrency' | 'address'
  >
  readonly referenceUrl: string
}

export interface SummaryEvent {
  readonly event: 'summary'
  readonly ok: boolean
  readonly payments: number
  readonly verified: number
  readonly delivered: number
  readonly retried: number
  /** The median latency of the successful deliveries, or null when none succeeded. */
  readonly p50Ms: number | null
  readonly runMs: number
  /** Why `ok` is false. */
  readonly reasons: readonly string[]
  /** The folder that `--keep` kept, else null. */
  readonly folder: string | null
}

/** An event of `payment-integration dev`: one line of its output with `--json`. */
export type DemoEvent =
  | ReadyEvent
  /** A transaction was sent. `price` is the shop's, such as `8.30 EUR`; `paid` is the amount, such as `8.96 USDC`. */
  | (PaymentReference & Texts<'price' | 'paid' | 'memo'> & { readonly event: 'payment.sent'; readonly number: number })
  /** The service committed the payment. */
  | (PaymentReference & { readonly event: 'payment.indexed'; readonly blockNumber: number })
  /** The service committed a new version. */
  | (PaymentReference & {
      readonly event: 'payment.changed'
      readonly version: number
      readonly from: string | null
      readonly to: string | null
    })
  | DeliveryEvent
  | { readonly event: 'receiver.rejected'; readonly code: string; readonly status: number }
  /**
   * The receiver failed several times in a row: `failures`. Until it answers, it gets only single probes and replays by
   * hotkey. The first block ends at `until`, ISO 8601 in UTC; each failed probe starts another block.
   */
  | { readonly event: 'receiver.blocked'; readonly until: string; readonly failures: number }
  /** No 2xx from the user's receiver. `status`: null without an answer. `advice`: the problem and its remedy. */
  | (Texts<'url' | 'advice'> & { readonly event: 'forward.failed'; readonly status: number | null })
  | EnvFileEvent
  | { readonly event: 'hotkey'; readonly key: string; readonly text: string }
  | VerifiedEvent
  | LegacyReadyEvent
  /** An unexpected result or event. */
  | { readonly event: 'problem'; readonly reason: string }
  | SummaryEvent

export type DemoSink = (event: DemoEvent) => void
