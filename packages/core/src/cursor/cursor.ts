/**
 * Encodes page tokens: authenticated, versioned, bound to integration and list. Source: docs/interface.md 4.1;
 * docs/decisions/cursor.md.
 * @module
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { BadRequestError } from '../errors.js'
import type { PagePosition } from '../ports/store-reads.js'
import type { KeyVersion, MasterKey } from '../secrets/master-key.js'

/** The list a cursor belongs to. */
export interface CursorScope {
  readonly integrationAddress: string
  /** Lowercased; absent for the list of the whole integration. */
  readonly wallet?: string | undefined
}

/** Encodes and decodes page tokens. */
export interface CursorCodec {
  encode(position: PagePosition, scope: CursorScope): string
  /** @throws BadRequestError `ERR_CURSOR_INVALID` for any flaw, always with the same message. */
  decode(cursor: string, scope: CursorScope): PagePosition
}

// Byte 0 is the format; then time, chain, count of moves and hash; then a MAC of 16 bytes over all of it and the scope.
const format = 2
const positionBytes = 1 + 8 + 8 + 8 + 32
const macBytes = 16
const length = Math.ceil(((positionBytes + macBytes) * 8) / 6)
const pattern = /^[A-Za-z0-9_-]+$/

/**
 * A codec on the deployment's keys. Tokens of a replaced key stay valid while that key is still configured.
 */
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
      const given = bytes.subarray(positionBytes)
      const genuine = keys.all.some((key) => timingSafeEqual(mac(key, head, scope), given))
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

function invalid(): BadRequestError {
  return new BadRequestError('ERR_CURSOR_INVALID', 'Invalid cursor')
}
