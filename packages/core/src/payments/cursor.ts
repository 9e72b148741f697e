/** Signs the cursors of listings and streams, each bound to one integration. Source: docs/interface.md 4.1. @module */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { InvalidParameterError } from '../errors.js'
import type { MasterKey, VersionedKey } from '../secrets/keys.js'
import type { PagePosition } from './payment-store.js'

interface CursorScope {
  readonly integrationAddress: string
  /** Lowercased; absent for the list of the whole integration. */
  readonly wallet?: string | undefined
}

export type CursorCodec = ReturnType<typeof createCursorCodec>
export type StreamPositionCodec = ReturnType<typeof createStreamPositionCodec>

/** Byte 0 of a token: no token of a listing passes for one of a stream. */
const formats = { listing: 2, stream: 3 } as const
const macBytes = 16
const maxTokenLength = 256
/** Time, chain and number of repositions as 64-bit integers, then the hash. */
const positionBytes = 3 * 8 + 32

/** `decode` throws InvalidParameterError `ERR_CURSOR_INVALID` for any flaw, always with the same message. */
export function createCursorCodec(keys: MasterKey) {
  const formatScope = ({ integrationAddress, wallet = '' }: CursorScope) => `${integrationAddress}|${wallet}`
  return {
    encode({ blockTimestamp, chainId, asOf, txHash }: PagePosition, scope: CursorScope): string {
      const content = Buffer.alloc(positionBytes)
      for (const [index, number] of [blockTimestamp, chainId, asOf].entries())
        content.writeBigInt64BE(BigInt(number), 8 * index)
      content.write(txHash.slice(2), 24, 'hex')
      return encodeToken(keys, formats.listing, content, formatScope(scope))
    },
    decode(cursor: string, scope: CursorScope): PagePosition {
      const content = decodeToken(keys, formats.listing, cursor, formatScope(scope))
      if (content?.length !== positionBytes)
        throw new InvalidParameterError(
          'ERR_CURSOR_INVALID',
          'cursor must be the nextCursor of a page of this list, unchanged',
        )
      return {
        blockTimestamp: Number(content.readBigInt64BE(0)),
        chainId: Number(content.readBigInt64BE(8)),
        asOf: Number(content.readBigInt64BE(16)),
        txHash: `0x${content.toString('hex', 24)}`,
      }
    },
  }
}

/** As {@link createCursorCodec}; a position contains the id of a delivery. */
export function createStreamPositionCodec(keys: MasterKey) {
  const formatScope = (integrationAddress: string) => `${integrationAddress}|deliveries`
  return {
    encode: (deliveryId: string, integrationAddress: string) =>
      encodeToken(keys, formats.stream, Buffer.from(deliveryId, 'utf8'), formatScope(integrationAddress)),
    decode(position: string, integrationAddress: string): string {
      const content = decodeToken(keys, formats.stream, position, formatScope(integrationAddress))
      if (content === null)
        throw new InvalidParameterError(
          'ERR_CURSOR_INVALID',
          'Last-Event-ID must be the id of an event of this stream, unchanged',
        )
      return content.toString('utf8')
    },
  }
}

/** A token is the base64url of format, content and a MAC over both and the scope. */
function encodeToken(keys: MasterKey, format: number, content: Buffer, scope: string): string {
  const signed = Buffer.concat([Buffer.of(format), content])
  return Buffer.concat([signed, computeMac(keys.current, signed, scope)]).toString('base64url')
}

/** Null for any flaw. Tokens of a replaced key stay valid while that key is still configured. */
function decodeToken(keys: MasterKey, format: number, token: string, scope: string): Buffer | null {
  if (token.length > maxTokenLength || !/^[A-Za-z0-9_-]+$/.test(token)) return null
  const bytes = Buffer.from(token, 'base64url')
  // Unused low bits of the last character would let two spellings decode alike.
  if (bytes.length <= macBytes || bytes.toString('base64url') !== token) return null
  const signed = bytes.subarray(0, -macBytes)
  const givenMac = bytes.subarray(-macBytes)
  const isGenuine = keys.all.some((key) => timingSafeEqual(computeMac(key, signed, scope), givenMac))
  return isGenuine && signed[0] === format ? signed.subarray(1) : null
}

const computeMac = (key: VersionedKey, signed: Buffer, scope: string) =>
  createHmac('sha256', key.derive('cursor')).update(signed).update(scope, 'utf8').digest().subarray(0, macBytes)
