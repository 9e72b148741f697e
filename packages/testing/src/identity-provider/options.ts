/** What the identity provider is told when it starts. @module */

/** How a webhook is signed. SHA-1 is the provider's oldest, kept for receivers that must refuse it. */
export type DigestAlgorithm = 'HMAC_SHA256_HEX' | 'HMAC_SHA512_HEX' | 'HMAC_SHA1_HEX'

/** Where a client wants its events. */
export interface WebhookTarget {
  readonly url: string
  readonly secretKey: string
  /** @default 'HMAC_SHA256_HEX' */
  readonly algorithm?: DigestAlgorithm | undefined
  /** Types of events that are sent there. @default all */
  readonly types?: readonly string[] | undefined
  /** Whether what failed is sent again, after 5 minutes, 1, 5 and 18 hours. @default true */
  readonly resends?: boolean | undefined
}

/** A client of the provider: an integrator that shares, or a service that redeems. */
export interface ProviderClient {
  readonly clientId: string
  /** A token that begins with `sbx:` is one of the sandbox, as at the provider. */
  readonly appToken: string
  readonly secretKey: string
  /** Verification levels by name, each with the steps that it asks for. @default clientDefaults.levels */
  readonly levels?: Readonly<Record<string, readonly string[]>> | undefined
  /** Clients with whom sharing is agreed; both sides must name each other. @default none */
  readonly partners?: readonly string[] | undefined
  readonly webhooks?: readonly WebhookTarget[] | undefined
  /** Whether reuse is switched off for this client (error 10505). @default false */
  readonly reuseDisabled?: boolean | undefined
  /** Whether copying is switched off for this client (error 10518). @default false */
  readonly copyDisabled?: boolean | undefined
}

/** What a client has when it does not say otherwise. */
export const clientDefaults: { readonly levels: Readonly<Record<string, readonly string[]>> } = {
  levels: { 'basic-kyc-level': ['IDENTITY', 'SELFIE'] },
}

/** How the provider is started. */
export interface IdentityProviderOptions {
  readonly clients: readonly ProviderClient[]
  /**
   * Milliseconds since the epoch. Pass your own to move it: expiry, the signature's window and resends follow it.
   * @default Date.now
   */
  readonly now?: (() => number) | undefined
  /** Makes ids; each call another one. @default 24 random hex digits */
  readonly newId?: (() => string) | undefined
  /** Port on loopback; 0 takes a free one. @default 0 */
  readonly port?: number | undefined
  /** Whether more than 50 POST or 300 GET requests in 5 seconds are answered 429. @default false */
  readonly rateLimits?: boolean | undefined
  /** Whether the answer to a redemption shows the review, which the provider does only sometimes. @default true */
  readonly showsReview?: boolean | undefined
  /**
   * Whether webhooks are sent by themselves when they are due. Otherwise `deliverWebhooks` sends them.
   * @default false
   */
  readonly sendsWebhooks?: boolean | undefined
  /**
   * Whether checks that are pending end by themselves with GREEN, and after how many milliseconds of this machine.
   * @default never
   */
  readonly approvesAfterMs?: number | undefined
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
