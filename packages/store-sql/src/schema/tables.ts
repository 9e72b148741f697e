/** The rows as they are stored. Integers that PostgreSQL returns as text are declared as `Integer`. @module */
import type { Generated } from 'kysely'
import type {
  AccountEventRow,
  EmailCodeRow,
  IdentityAccountRow,
  PersonRow,
  ProviderEventRow,
  RedemptionRow,
  ShareRow,
  SubjectRow,
  VerdictRow,
} from './identity-tables.js'
import type { Integer } from './integer.js'

/** One row per payment, primary or not. */
export interface PaymentRow {
  id: Generated<Integer>
  chain_id: Integer
  tx_hash: string
  ordinal: Integer
  log_index: Integer
  block_number: Integer
  block_hash: string
  /** Unix milliseconds, as every time here. */
  block_timestamp: Integer
  router_address: string
  router_version: string
  sender: string
  receiver: string
  memo: string
  integration: string | null
  source_chain_id: Integer
  source_tx_hash: string
  token_in_address: string
  /** JSON string, so that any symbol a token answers is storable: PostgreSQL refuses U+0000 in text. */
  token_in_symbol: string | null
  token_in_decimals: Integer
  /** Decimal digits: a uint256 fits no integer column. */
  token_in_amount: string
  token_out_address: string
  token_out_symbol: string | null
  token_out_decimals: Integer
  token_out_gross: string
  token_out_net: string
  /** JSON object; its large integers are decimal digits. */
  pricing: string
  /** 1 while its block has left the chain. */
  off_chain: Integer
  /** JSON object with the state of before; null unless it was dropped. */
  dropped: string | null
  /** 1 for the payment that area (a) shows. */
  is_primary: Integer
  version: Integer
  state: string | null
  /** JSON object. */
  recipient: string | null
  /** JSON object. */
  invoice: string | null
}

/** How often payments of an integration were given another block time: the `asOf` of its page positions. */
export interface PageEpochRow {
  integration: string
  seq: Integer
}

/** One row per payment of a list and change of its block time. */
export interface PaymentMoveRow {
  payment_id: Integer
  /** The integration's count with this move. */
  seq: Integer
  integration: string
  /** The block time before it. */
  block_timestamp: Integer
}

/** The bytes of one version, written once. */
export interface SnapshotRow {
  payment_id: Integer
  version: Integer
  body: Uint8Array
}

/** One row per snapshot that an integration is notified of. Delivered, unless it is in the outbox or was given up. */
export interface DeliveryRow {
  id: Generated<Integer>
  payment_id: Integer
  version: Integer
  integration: string
  /** When it was made. Always set, though the column is nullable. */
  created_at: Integer | null
  /** Why it was given up, `exhausted` or `superseded`, or null. */
  undelivered: string | null
}

/** One row per delivery that is pending. */
export interface OutboxRow {
  /** Of the delivery, as the next four are. */
  id: Integer
  payment_id: Integer
  version: Integer
  integration: string
  created_at: Integer | null
  /** How many attempts of it were logged; a claim that was lost adds none. */
  attempted: Integer
  /** 0 until the first claim, then 1: first attempts go before retries. 2 for a replay without an attempt: last. */
  lane: Integer
  /** When it may be claimed: its planned time, or the end of its lease. */
  due_at: Integer
  /** The newest claim, or null. */
  claim_token: string | null
  /** When it was replayed, or null. */
  replayed_at: Integer | null
  /** How many attempts were logged when its retry schedule began: when it was made, or replayed. */
  schedule_from: Integer
}

/** One logged attempt of a delivery. */
export interface AttemptRow {
  delivery_id: Integer
  /** From 1, without a gap. */
  number: Integer
  started_at: Integer
  latency_ms: number
  status: Integer | null
  /** JSON string. */
  reason: string | null
  /** JSON string: the beginning of what the receiver answered. */
  excerpt: string | null
  /** 1 for a replay. */
  replay: Integer
}

/** One row per integration whose endpoint failed last. */
export interface EndpointRow {
  integration: string
  /** Failed attempts in a row. */
  failures: Integer
  /** How often in a row it was blocked; 0: it is not. */
  blocks: Integer
  /** When `failures` left 0. */
  failing_since: Integer
  /** End of the block, or of the lease of the attempt that probes it; null while `blocks` is 0. */
  blocked_until: Integer | null
}

/** One row per entry of the audit log. */
export interface AuditRow {
  seq: Integer
  at: Integer
  /** JSON string. */
  actor: string
  action: string
  /** JSON string. */
  subject: string
  /** JSON object. */
  details: string
  key_version: Integer
  hash: string
}

/** One row per processor update ever received. */
export interface UpdateRow {
  /** Order of receipt. */
  seq: Generated<Integer>
  id: string
  chain_id: Integer
  tx_hash: string
  /** The whole update as JSON. */
  body: string
  outcome: string
  /** JSON string. */
  reason: string | null
  version: Integer | null
}

/** One row per integration. */
export interface IntegrationRow {
  address: string
  /** JSON string. */
  name: string
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
  /** Counts changes of its URL and times it was enabled. Attempts of an earlier epoch say nothing of its endpoint. */
  endpoint_epoch: Integer
}

/** One row per account. */
export interface AccountRow {
  /** JSON string. */
  handle: string
  address: string
  /** JSON object. */
  config: string
  created_at: Integer
}

/** One row per account and address that it receives payments at. */
export interface AccountAddressRow {
  address: string
  handle: string
}

/** One row per legacy API key ever issued. */
export interface LegacyKeyRow {
  /** JSON string. */
  id: string
  /** JSON string. */
  name: string
  hash: string
  key_version: Integer
  created_at: Integer
  revoked_at: Integer | null
}

/** Blocks that were proven. Those of a chain never overlap. */
export interface ProofRow {
  chain_id: Integer
  from_block: Integer
  to_block: Integer
  proof: string
  /** JSON string. */
  endpoint: string
}

/** Which blocks were read for a router. */
export interface CoverageRow {
  chain_id: Integer
  router: string
  from_block: Integer
  /** Null: it is read along with the chain. */
  to_block: Integer | null
}

/** Who has a lease, and until when. */
export interface LeaseRow {
  /** JSON string. */
  name: string
  /** JSON string. */
  holder: string
  expires_at: Integer
}

/** One row per payment that left its chain. */
export interface DepositRow {
  id: Generated<Integer>
  chain_id: Integer
  tx_hash: string
  ordinal: Integer
  block_number: Integer
  /** 1 while it has no fulfilment. */
  waiting: Integer
  /** JSON object; its large integers are decimal digits. */
  body: string
}

/** Heights whose payments are committed; the highest of a chain is its checkpoint. */
export interface CheckpointRow {
  chain_id: Integer
  block_number: Integer
  block_hash: string
  /** On a checkpoint after a reorg: the highest block indexed before. Valid while it is above the checkpoint. */
  reached: Integer | null
}

/** One key for each purpose, sealed. */
export interface DataKeyRow {
  /** JSON string. */
  purpose: string
  key_version: Integer
  sealed: string
}

/** All tables. */
export interface Tables {
  payments: PaymentRow
  page_epochs: PageEpochRow
  payment_moves: PaymentMoveRow
  snapshots: SnapshotRow
  deliveries: DeliveryRow
  outbox: OutboxRow
  attempts: AttemptRow
  updates: UpdateRow
  integrations: IntegrationRow
  accounts: AccountRow
  account_addresses: AccountAddressRow
  legacy_keys: LegacyKeyRow
  checkpoints: CheckpointRow
  proofs: ProofRow
  coverage: CoverageRow
  leases: LeaseRow
  deposits: DepositRow
  endpoints: EndpointRow
  audit: AuditRow
  identity_subjects: SubjectRow
  identity_persons: PersonRow
  identity_redemptions: RedemptionRow
  identity_shares: ShareRow
  identity_verdicts: VerdictRow
  identity_accounts: IdentityAccountRow
  provider_events: ProviderEventRow
  email_codes: EmailCodeRow
  account_events: AccountEventRow
  data_keys: DataKeyRow
}
