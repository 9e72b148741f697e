/** Options of the local identity provider. @module */

/** Digest of a webhook. SHA-1 is the provider's oldest; receivers must reject it. */
export type DigestAlgorithm = 'HMAC_SHA256_HEX' | 'HMAC_SHA512_HEX' | 'HMAC_SHA1_HEX'

/** The target of a client's events. */
export interface WebhookTarget {
  readonly url: string
  readonly secretKey: string
  /** @default 'HMAC_SHA256_HEX' */
  readonly algorithm?: DigestAlgorithm | undefined
  /** Types of the events for this target. @default all */
  readonly types?: readonly string[] | undefined
  /** Whether failed webhooks are retried after 5 minutes, 1, 5 and 18 hours. @default true */
  readonly resends?: boolean | undefined
}

/** A client of the provider: an integrator that shares, or a service that redeems. */
export interface ProviderClient {
  readonly clientId: string
  /** A token that begins with `sbx:` belongs to the sandbox, as at the provider. */
  readonly appToken: string
  readonly secretKey: string
  /** Verification levels by name, each with its required steps. @default clientDefaults.levels */
  readonly levels?: Readonly<Record<string, readonly string[]>> | undefined
  /** Partner clients for sharing; both sides must name each other. @default none */
  readonly partners?: readonly string[] | undefined
  readonly webhooks?: readonly WebhookTarget[] | undefined
  /** Whether reuse is switched off for this client (error 10505). @default false */
  readonly reuseDisabled?: boolean | undefined
  /** Whether copying is switched off for this client (error 10518). @default false */
  readonly copyDisabled?: boolean | undefined
}

/** Defaults of a client. */
export const clientDefaults: { readonly levels: Readonly<Record<string, readonly string[]>> } = {
  levels: { 'basic-kyc-level': ['IDENTITY', 'SELFIE'] },
}

/** Options of the provider. */
export interface IdentityProviderOptions {
  readonly clients: readonly ProviderClient[]
  /**
   * Milliseconds since the epoch. It decides expiry, the window of signatures and retries of webhooks.
   * @default Date.now
   */
  readonly now?: (() => number) | undefined
  /** Makes a new id per call. @default 24 random hex digits */
  readonly newId?: (() => string) | undefined
  /** Port on loopback; 0 for a free one. @default 0 */
  readonly port?: number | undefined
  /** Whether more than 50 POST or 300 GET requests in 5 seconds are answered 429. @default false */
  readonly rateLimits?: boolean | undefined
  /** Whether the answer to a redemption shows the review; the provider does so only sometimes. @default true */
  readonly showsReview?: boolean | undefined
  /**
   * Whether due webhooks are sent automatically. Otherwise `deliverWebhooks` sends them.
   * @default false
   */
  readonly sendsWebhooks?: boolean | undefined
  /**
   * Milliseconds of this machine after which pending checks automatically become GREEN.
   * @default never
   */
  readonly approvesAfterMs?: number | undefined
  /**
   * Sends a webhook. A rejection counts as no answer.
   * @default the runtime's fetch
   */
  readonly sendWebhook?: ((request: Request) => Promise<Response>) | undefined
  /** Longest wait for the answer of a webhook, in milliseconds. @default 5000 */
  readonly webhookTimeoutMs?: number | undefined
}

/** Defaults of {@link IdentityProviderOptions}. */
export const identityProviderDefaults = {
  port: 0,
  rateLimits: false,
  showsReview: true,
  sendsWebhooks: false,
  webhookTimeoutMs: 5_000,
} as const
