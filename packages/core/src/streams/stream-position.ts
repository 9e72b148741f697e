/** Encodes positions in a stream: authenticated and bound to the integration. See docs/decisions/listen.md. @module */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { BadRequestError } from '../errors.js'
import type { KeyVersion, MasterKey } from '../secrets/master-key.js'

/** Encodes and decodes the ids of events. */
export interface StreamPositionCodec {
  encode(deliveryId: string, integrationAddress: string): string
  /** @throws BadRequestError `ERR_CURSOR_INVALID` for any flaw, always with the same message. */
  decode(position: string, integrationAddress: string): string
}

// Byte 0 is the format, which no cursor of a list has; then the id of a delivery; then a MAC over both and the scope.
const format = 3
const macBytes = 16
const maxCharacters = 256
const pattern = /^[A-Za-z0-9_-]+$/

/** A codec on the deployment's keys. Positions of a replaced key stay valid while that key is still configured. */
export function createStreamPositionCodec(keys: MasterKey): StreamPositionCodec {
  return {
    encode(deliveryId, integrationAddress) {
      const head = Buffer.concat([Buffer.of(format), Buffer.from(deliveryId, 'utf8')])
      return Buffer.concat([head, mac(keys.current, head, integrationAddress)]).toString('base64url')
    },
    decode(position, integrationAddress) {
      const isText = position.length <= maxCharacters && pattern.test(position)
      const bytes = isText ? Buffer.from(position, 'base64url') : Buffer.alloc(0)
      // Unused low bits of the last character would let two spellings decode alike.
      if (bytes.length <= macBytes || bytes.toString('base64url') !== position) throw invalid()
      const head = bytes.subarray(0, -macBytes)
      const given = bytes.subarray(-macBytes)
      const isGenuine = keys.all.some((key) => timingSafeEqual(mac(key, head, integrationAddress), given))
      if (!isGenuine || head[0] !== format) throw invalid()
      return head.toString('utf8', 1)
    },
  }
}

function mac(key: KeyVersion, head: Buffer, integrationAddress: string): Buffer {
  const hmac = createHmac('sha256', key.derive('cursor')).update(head)
  return hmac.update(`${integrationAddress}|deliveries`, 'utf8').digest().subarray(0, macBytes)
}

function invalid(): BadRequestError {
  return new BadRequestError('ERR_CURSOR_INVALID', 'Invalid Last-Event-ID')
}
