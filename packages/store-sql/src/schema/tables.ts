/** The types of stored rows. Integers that PostgreSQL returns as text are `Integer`. @module */
import type { Generated } from 'kysely'
import type { IdentityTables } from './identity-tables.js'
import type { Integer, JsonText } from './migration.js'

export interface Tables extends IdentityTables {
  /** One row per payment, primary or not. `internal/values.ts` converts its hashes and addresses. */
  payments: {
    id: Generated<Integer>
    chain_id: Integer
    tx_hash: Uint8Array
    ordinal: Integer
    log_index: Integer
    block_number: Integer
    block_hash: Uint8Array
    /** Unix milliseconds, like every time here. */
    block_timestamp: Integer
    router_address: Uint8Array
    router_version: string
    sender: Uint8Array
    receiver: Uint8Array
    memo: Uint8Array
    integration: Uint8Array | null
    /** Null together with the hash when both are the payment's own. */
    source_chain_id: Integer | null
    source_tx_hash: Uint8Array | null
    token_in_address: Uint8Array
    token_in_symbol: JsonText | null
    token_in_decimals: Integer
    /** Decimal digits: a uint256 fits no integer column. */
    token_in_amount: string
    /** Null when address, symbol and decimals are those of `token_in`. */
    token_out_address: Uint8Array | null
    token_out_symbol: JsonText | null
    token_out_decimals: Integer | null
    token_out_gross: string
    token_out_net: string
    /** A JSON array that `payments/payment-row.ts` packs; null: no fact is known. */
    pricing: JsonText | null
    /** 1 while the payment is off the chain. */
    off_chain: Integer
    /** The state before the payment was dropped; null unless it was. */
    dropped: JsonText | null
    /** 1 for a payment that the read API, area (a) of the interface, shows. */
    is_primary: Integer
  }

  /** One row per payment whose status is not the initial one. */
  statuses: {
    payment_id: Integer
    /** The payment's block time, for the console's index by state. */
    block_timestamp: Integer
    version: Integer
    state: string | null
    /** A JSON array that `payments/payment-row.ts` packs, like `invoice`. */
    recipient: JsonText | null
    invoice: JsonText | null
  }

  /** A primary payment whose state is not final. */
  unsettled: {
    chain_id: Integer
    payment_id: Integer
  }

  /** How often payments of an integration got another block time: the `asOf` of its page positions. */
  page_epochs: {
    integration: Uint8Array
    seq: Integer
  }

  /** One row per reposition: a reorg changed the block time of a listed payment. */
  payment_repositions: {
    payment_id: Integer
    /** The integration's count of repositions, this one included. */
    seq: Integer
    integration: Uint8Array
    /** The block time before the reposition. */
    block_timestamp: Integer
  }

  /**
   * One row per version of a payment. It is a delivery too if its integration is notified: then it is delivered, unless
   * it is in the outbox, exhausted or superseded.
   */
  snapshots: {
    id: Generated<Integer>
    payment_id: Integer
    created_at: Integer
    version: Integer
    /** The notified integration; null: nobody is notified. */
    integration: Uint8Array | null
    /** `exhausted`, `superseded` or null. */
    undelivered: string | null
    /** The snapshot bytes, or the values that rebuild them. */
    body: Uint8Array
  }

  /** One row per delivery that is pending. */
  outbox: {
    /** The snapshot's id. */
    id: Integer
    /** When it may be claimed: its planned time, or the end of its lease. */
    due_at: Integer
    replayed_at: Integer | null
    /** Number of logged attempts; a claim without an outcome adds none. */
    attempted: Integer
    /** Number of logged attempts when its retry schedule began, at its creation or replay. */
    schedule_from: Integer
    /** The lane: 0 until the first claim, then 1; 2 for a replay without an attempt. */
    lane: Integer
    /** The integration of the snapshot. */
    integration: Uint8Array
    /** The token of the last lease, or null. */
    claim_token: string | null
  }

  /** One logged attempt of a delivery. */
  attempts: {
    delivery_id: Integer
    started_at: Integer
    latency_ms: number
    /** From 1, without a gap. */
    number: Integer
    status: Integer | null
    replay: Integer
    reason: JsonText | null
    /** The first bytes of the receiver's answer. */
    excerpt: JsonText | null
  }

  /** One row per integration whose last attempt failed. */
  endpoints: {
    integration: Uint8Array
    /** Failed attempts in a row. */
    failures: Integer
    /** Number of blocks in a row; 0: not blocked. */
    blocks: Integer
    /** When `failures` left 0. */
    failing_since: Integer
    /** End of the block, or of the lease of the attempt that probes it; null while `blocks` is 0. */
    blocked_until: Integer | null
  }

  /** One row per segment of history after the first one. */
  segments: {
    /** From 1. */
    number: Integer
    begun_at: Integer
    /** Its deliveries have this id or a higher one, and its updates this `seq` or a higher one. */
    first_delivery: Integer
    first_update: Integer
    /** 1: deliveries of earlier segments are not replayed any more. */
    closes: Integer
  }

  audit: {
    seq: Integer
    at: Integer
    actor: JsonText
    action: string
    subject: JsonText
    details: JsonText
    key_version: Integer
    hash: string
  }

  /** One row per processor update ever received. */
  updates: {
    /** Order of receipt. */
    seq: Generated<Integer>
    /** The payment for which the outcome was decided; null while the update waits. */
    payment_id: Integer | null
    /** The next three columns are set while the update waits; `body` also if it was rejected. */
    chain_id: Integer | null
    tx_hash: Uint8Array | null
    /** The whole update. */
    body: JsonText | null
    version: Integer | null
    id: string
    /** The first 16 bytes of the SHA-256 of its JSON. */
    fingerprint: Uint8Array
    outcome: string
    reason: JsonText | null
  }

  integrations: {
    address: Uint8Array
    name: JsonText
    notification_url: string | null
    enabled: Integer
    api_key_version: Integer | null
    api_hash: string | null
    previous_key_version: Integer | null
    previous_hash: string | null
    previous_until: Integer | null
    signing_key_version: Integer
    signing_sealed: string
    prepared_signing_key_version: Integer | null
    prepared_signing_sealed: string | null
    previous_signing_key_version: Integer | null
    previous_signing_sealed: string | null
    previous_signing_until: Integer | null
    created_at: Integer
    /** Counts changes of the URL, and each time it is enabled. Attempts of an earlier epoch do not count for health. */
    endpoint_epoch: Integer
  }

  accounts: {
    handle: JsonText
    address: string
    config: JsonText
    created_at: Integer
  }

  /** One row per account and address that it receives payments at. */
  account_addresses: {
    address: string
    handle: JsonText
  }

  /** One row per legacy API key ever issued. */
  legacy_keys: {
    id: JsonText
    name: JsonText
    hash: string
    key_version: Integer
    created_at: Integer
    revoked_at: Integer | null
  }

  operators: {
    name: string
    role: string
    enabled: Integer
    /** scrypt hash with its parameters, or `oidc`. */
    passphrase: string | null
    /** SHA-256 of the link's token; null together with the next column. */
    link_hash: string | null
    link_expires_at: Integer | null
    created_at: Integer
  }

  /** One row per session that was neither ended nor cleaned up. */
  operator_sessions: {
    /** SHA-256 of the token. */
    hash: string
    operator: string
    created_at: Integer
    expires_at: Integer
  }

  /** One row per session of an integration that was neither ended nor cleaned up. */
  integration_sessions: {
    /** SHA-256 of the token. */
    hash: string
    integration: Uint8Array
    /** The stored hash of the API secret that opened it. */
    api_hash: string
    created_at: Integer
    expires_at: Integer
  }

  /** Proven ranges of blocks. The ranges of one chain never overlap. */
  proofs: {
    chain_id: Integer
    from_block: Integer
    to_block: Integer
    proof: string
    node: JsonText
  }

  /** The blocks that were read for a router. */
  coverage: {
    chain_id: Integer
    router: string
    from_block: Integer
    /** Null: the chain's checkpoint. */
    to_block: Integer | null
  }

  leases: {
    name: JsonText
    holder: JsonText
    expires_at: Integer
  }

  /** One row per bridge deposit: a payment that goes to another chain. */
  deposits: {
    id: Generated<Integer>
    chain_id: Integer
    tx_hash: string
    ordinal: Integer
    block_number: Integer
    /** 1 while it has no fulfillment. */
    waiting: Integer
    /** Its large integers are decimal digits. */
    body: JsonText
  }

  /** Indexed heights; the highest of a chain is its checkpoint. */
  checkpoints: {
    chain_id: Integer
    block_number: Integer
    block_hash: string
    /** On a checkpoint after a reorg: the highest block indexed before. Valid while above the checkpoint. */
    reached: Integer | null
  }

  /** One key for each purpose, sealed. */
  data_keys: {
    purpose: JsonText
    key_version: Integer
    sealed: string
  }
}
