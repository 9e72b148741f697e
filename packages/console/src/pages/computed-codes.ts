/**
 * Computes what right and wrong receivers get as `v1`, with random example secrets. Source: docs/interface.md 6.
 * @module
 */
import { createHmac, randomBytes } from 'node:crypto'

/** Made for these pages alone, at the start of the process. */
const exampleSecret = randomBytes(32)
const otherSecret = randomBytes(32)

/** A way to verify, with its result. */
export interface ComputedCode {
  readonly way: string
  /** The code in hex. */
  readonly code: string
  readonly isRight: boolean
  /** Advice; null where nothing is wrong. */
  readonly remedy: string | null
}

const rawBytes = 'Verify the raw bytes before any JSON parser.'

/** The code of each way over one body: the right one first. */
export function computedCodes(timestamp: number, body: string): readonly ComputedCode[] {
  const codeOf = (text: string, secret: Buffer = exampleSecret) =>
    createHmac('sha256', secret).update(`${timestamp}.${text}`).digest('hex')
  const right = codeOf(body)
  const row = (way: string, code: string, remedy: string): ComputedCode => {
    const isRight = code === right
    return { way, code, isRight, remedy: isRight ? null : remedy }
  }
  return [
    row('The raw bytes, the signing secret', right, ''),
    ...rewritten(body).map(([way, text]) => row(way, codeOf(text), rawBytes)),
    row('Line end added to the body', codeOf(`${body}\n`), 'Pass the bytes unchanged: an editor or echo adds one.'),
    row(
      'Another secret, such as the API secret',
      codeOf(body, otherSecret),
      'Compare with the webhook secret of this integration and environment; after a rotation use the new one.',
    ),
  ]
}

/** A parsed body, written again; none for a body that is no JSON. */
function rewritten(body: string): readonly (readonly [string, string])[] {
  try {
    const value: unknown = JSON.parse(body)
    return [
      ['JSON.stringify(JSON.parse(body))', JSON.stringify(value)],
      ['JSON.stringify(JSON.parse(body), null, 2)', JSON.stringify(value, null, 2)],
    ]
  } catch {
    return []
  }
}
