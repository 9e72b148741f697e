/** The read API: parameters, page tokens and the shown payment. Source: docs/interface.md 4.1. @module */

import { createHmac, timingSafeEqual } from 'node:crypto'
import { type PageBody, type PaymentBody, pageLimit } from '@payment-integration/contract'
import { AmbiguousPaymentError, InvalidRequestError, PaymentNotFoundError } from '../errors.js'
import type { KeyVersion, MasterKey } from '../secrets/keys.js'
import { formatUnits, parseMemo, type StoredPayment } from './payment.js'
import type { PagePosition, PaymentReads } from './payment-store.js'
import { buildSnapshot } from './snapshot.js'

/** Plain ASCII digits without sign, space, exponent or leading zero, within 1 to 200; else `ERR_LIMIT_INVALID`. */
export function parseLimit(text: string | undefined): number {
  if (text === undefined) return pageLimit.default
  const limit = /^[1-9][0-9]{0,8}$/.test(text) ? Number(text) : Number.NaN
  if (limit >= pageLimit.min && limit <= pageLimit.max) return limit
  throw new InvalidRequestError(
    'ERR_LIMIT_INVALID',
    `limit must be an integer from ${pageLimit.min} to ${pageLimit.max}`,
  )
}

/** A transaction hash in any case; else `ERR_TX_HASH_INVALID`. */
export function parseTxHash(text: string): string {
  if (/^0x[0-9a-fA-F]{64}$/.test(text)) return text.toLowerCase()
  throw new InvalidRequestError('ERR_TX_HASH_INVALID', 'txHash must be a 32-byte hex string: 0x and 64 hex digits')
}

/** An address in any case; else `ERR_ADDRESS_INVALID`. */
export function parseAddress(text: string): string {
  if (/^0x[0-9a-fA-F]{40}$/.test(text)) return text.toLowerCase()
  throw new InvalidRequestError('ERR_ADDRESS_INVALID', 'address must be a 20-byte hex string: 0x and 40 hex digits')
}

/** A name appears on terminals and in logs: no control characters, line breaks or marks of direction. */
export function parseName(text: string): string {
  if (!/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/u.test(text)) return text
  throw new InvalidRequestError(
    'ERR_NAME_INVALID',
    'name must not hold control characters, line breaks or marks of direction',
  )
}

interface CursorScope {
  readonly integrationAddress: string
  /** Lowercased; absent for the list of the whole integration. */
  readonly wallet?: string | undefined
}

export interface CursorCodec {
  encode(position: PagePosition, scope: CursorScope): string
  /** @throws InvalidRequestError `ERR_CURSOR_INVALID` for any flaw, always with the same message. */
  decode(cursor: string, scope: CursorScope): PagePosition
}

// Byte 0 is the format; then time, chain, count of repositions and hash; then a MAC of 16 bytes over all of it and
// the scope.
const format = 2
const positionBytes = 1 + 8 + 8 + 8 + 32
const macBytes = 16
const length = Math.ceil(((positionBytes + macBytes) * 8) / 6)
const pattern = /^[A-Za-z0-9_-]+$/

/** Tokens of a replaced key stay valid while that key is still configured. */
export function createCursorCodec(keys: MasterKey): CursorCodec {
  return {
    encode(position, scope) {
      const head = write(position)
      return Buffer.concat([head, mac(keys.current, head, scope)]).toString('base64url')
    },
    decode(cursor, scope) {
      const bytes =
        cursor.length === length && pattern.test(cursor) ? Buffer.from(cursor, 'base64url') : Buffer.alloc(0)
      // Unused low bits of the last character would let two spellings decode alike.
      if (bytes.length !== positionBytes + macBytes || bytes.toString('base64url') !== cursor) throw invalid()
      const head = bytes.subarray(0, positionBytes)
      const givenMac = bytes.subarray(positionBytes)
      const genuine = keys.all.some((key) => timingSafeEqual(mac(key, head, scope), givenMac))
      if (!genuine || head[0] !== format) throw invalid()
      return read(head)
    },
  }
}

function write({ blockTimestamp, chainId, asOf, txHash }: PagePosition): Buffer {
  const head = Buffer.alloc(positionBytes)
  head.writeUInt8(format, 0)
  head.writeBigInt64BE(BigInt(blockTimestamp), 1)
  head.writeBigInt64BE(BigInt(chainId), 9)
  head.writeBigInt64BE(BigInt(asOf), 17)
  head.write(txHash.slice(2), 25, 'hex')
  return head
}

function read(head: Buffer): PagePosition {
  return {
    blockTimestamp: Number(head.readBigInt64BE(1)),
    chainId: Number(head.readBigInt64BE(9)),
    asOf: Number(head.readBigInt64BE(17)),
    txHash: `0x${head.toString('hex', 25)}`,
  }
}

function mac(key: KeyVersion, head: Buffer, { integrationAddress, wallet }: CursorScope): Buffer {
  const hmac = createHmac('sha256', key.derive('cursor')).update(head)
  return hmac
    .update(`${integrationAddress}|${wallet ?? ''}`, 'utf8')
    .digest()
    .subarray(0, macBytes)
}

function invalid(): InvalidRequestError {
  return new InvalidRequestError('ERR_CURSOR_INVALID', 'Invalid cursor')
}

/** Built field by field, so that no field that docs/interface.md 2.1 omits can slip through. */
function buildPaymentView(payment: StoredPayment, integrationAddress: string): PaymentBody {
  const { chainId, txHash, tokenIn, tokenOut, source } = payment
  const snapshot = buildSnapshot({ integrationAddress, chainId, txHash }, payment)
  // Named one by one: an object from a spread costs ten times as much to build and to format as JSON.
  return {
    integrationAddress: snapshot.integrationAddress,
    chainId: snapshot.chainId,
    txHash: snapshot.txHash,
    version: snapshot.version,
    state: snapshot.state,
    recipient: snapshot.recipient,
    invoice: snapshot.invoice,
    sender: payment.sender,
    receiver: payment.receiver,
    memo: parseMemo(payment.memoHex),
    blockTimestamp: new Date(payment.blockTimestamp).toISOString(),
    source: { chainId: String(source.chainId), txHash: source.txHash },
    tokenIn: {
      address: tokenIn.address,
      symbol: tokenIn.symbol,
      amount: formatUnits(tokenIn.amount, tokenIn.decimals),
    },
    tokenOut: {
      address: tokenOut.address,
      symbol: tokenOut.symbol,
      amountGross: formatUnits(tokenOut.gross, tokenOut.decimals),
      amountNet: formatUnits(tokenOut.net, tokenOut.decimals),
    },
  }
}

export function createPaymentReader(reads: () => Pick<PaymentReads, 'list' | 'findByHash'>, cursors: CursorCodec) {
  return {
    async list(
      integrationAddress: string,
      query: { readonly [Name in 'limit' | 'cursor' | 'wallet']?: string | undefined },
    ): Promise<PageBody> {
      const wallet = query.wallet === undefined ? undefined : parseAddress(query.wallet)
      const limit = parseLimit(query.limit)
      const scope = { integrationAddress, wallet }
      const after = query.cursor === undefined ? undefined : cursors.decode(query.cursor, scope)
      const { payments, next } = await reads().list({ ...scope, after, limit })
      const nextCursor = next === null ? null : cursors.encode(next, scope)
      return { payments: payments.map((row) => buildPaymentView(row, integrationAddress)), nextCursor }
    },
    async get(
      integrationAddress: string,
      query: { readonly txHash: string; readonly wallet?: string | undefined },
    ): Promise<PaymentBody> {
      const wallet = query.wallet === undefined ? undefined : parseAddress(query.wallet)
      const txHash = parseTxHash(query.txHash)
      const [payment, other] = await reads().findByHash({ integrationAddress, txHash, wallet })
      if (payment === undefined) throw new PaymentNotFoundError()
      if (other !== undefined) throw new AmbiguousPaymentError()
      return buildPaymentView(payment, integrationAddress)
    },
  }
}
