/** Parameters of the endpoints. Source: docs/interface.md 4.1, 4.3, 8. @module */
import { pageLimit } from '../limits.js'
import type { JsonSchema, Parameter } from './types.js'

const hash: JsonSchema = { type: 'string', pattern: '^0x[0-9a-fA-F]{64}$' }

/** Destination transaction hash. */
export const txHash: Parameter = {
  name: 'txHash',
  in: 'path',
  required: true,
  description: 'Destination transaction hash, in any case. A hash of the source chain finds no payment.',
  schema: hash,
  example: `0x${'a'.repeat(64)}`,
}

/** Wallet on either side of a payment. */
export const wallet: Parameter = {
  name: 'address',
  in: 'path',
  required: true,
  description: 'Wallet address, in any case. It matches the sender and the receiver of a payment.',
  schema: { type: 'string', pattern: '^0x[0-9a-fA-F]{40}$' },
  example: `0x${'2'.repeat(40)}`,
}

/** Page size. */
export const limit: Parameter = {
  name: 'limit',
  in: 'query',
  required: false,
  description: 'Payments per page. Any other value is rejected, never capped.',
  schema: { type: 'integer', minimum: pageLimit.min, maximum: pageLimit.max, default: pageLimit.default },
}

/** Position in the list. */
export const cursor: Parameter = {
  name: 'cursor',
  in: 'query',
  required: false,
  description: 'The `nextCursor` of the page before. It is opaque: do not parse or construct it.',
  schema: { type: 'string', minLength: 1 },
}

/** Position in a stream. */
export const lastEventId: Parameter = {
  name: 'Last-Event-ID',
  in: 'header',
  required: false,
  description:
    'The `id` of the last event received: the stream goes on after it. It is opaque and valid for the caller only.',
  schema: { type: 'string' },
}

/** Time at which a stream begins. */
export const since: Parameter = {
  name: 'since',
  in: 'query',
  required: false,
  description:
    'Unix time in milliseconds: the stream begins with deliveries created then. Without it the stream begins now. A `Last-Event-ID` takes precedence.',
  schema: { type: 'string', pattern: '^[0-9]{1,15}$' },
  example: '1767323045000',
}

/** Chain of a legacy look-up. */
export const legacyChainId: Parameter = {
  name: 'chainId',
  in: 'path',
  required: true,
  description: 'Chain of the transaction, in decimal digits.',
  schema: { type: 'string', pattern: '^[1-9][0-9]{0,14}$' },
  example: '137',
}

/** Hash of a legacy look-up. */
export const legacyTxHash: Parameter = {
  name: 'txHash',
  in: 'path',
  required: true,
  description: 'Transaction hash, in any case.',
  schema: hash,
  example: `0x${'a'.repeat(64)}`,
}
