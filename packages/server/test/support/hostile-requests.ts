/** Builds the bytes of `vectors/hostile-requests.json`. */
import { readFileSync } from 'node:fs'

/** Text of which each character is one byte, or such a text many times over. */
export type Piece = string | { readonly repeat: string; readonly times: number }

/** One case of the file; `vectors/README.md` explains the fields. */
export interface HostileRequest {
  readonly name: string
  readonly send: string | readonly Piece[]
  readonly end?: true
  readonly answers: readonly { readonly status: number; readonly body: string }[]
  readonly closes: boolean
}

/** Values of the placeholders. */
export interface Values {
  readonly address: string
  readonly secret: string
  readonly legacyKey: string
  /** The header of a processor's signature over these bytes. */
  sign(body: Buffer): string
}

export function hostileRequests(): HostileRequest[] {
  const file = new URL('../../../../vectors/hostile-requests.json', import.meta.url)
  return JSON.parse(readFileSync(file, 'utf8')) as HostileRequest[]
}

/** The bytes of a case. `length` and `signature` cover the bytes after the first empty line. */
export function toBytes({ send }: Pick<HostileRequest, 'send'>, values: Values): Buffer {
  const pieces = typeof send === 'string' ? [send] : send
  const text = pieces.map((piece) => (typeof piece === 'string' ? piece : piece.repeat.repeat(piece.times))).join('')
  const filled = text
    .replaceAll('{{address}}', values.address)
    .replaceAll('{{secret}}', values.secret)
    .replaceAll('{{legacyKey}}', values.legacyKey)
    .replace(/\{\{base64:(.*?)\}\}/gs, (_, plain: string) => Buffer.from(plain, 'latin1').toString('base64'))
  const body = Buffer.from(filled.slice(filled.indexOf('\r\n\r\n') + 4), 'latin1')
  const framed = filled
    .replaceAll('{{length}}', String(body.length))
    .replaceAll('{{signature}}', () => values.sign(body))
  return Buffer.from(framed, 'latin1')
}
