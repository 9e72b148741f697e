/** Finds why valid deliveries are rejected: signs like known mistakes, and sees which one is accepted. @module */
import { hmacOf } from '../deliveries/sign.js'
import type { Bench } from './bench.js'
import type { DoctorCauseCode } from './causes.js'
import { isAccepted } from './judge.js'
import type { SocketAnswer } from './report.js'

type Bytes = Uint8Array<ArrayBuffer>

/** A known mistake: the key, and the string that is signed. */
interface Mistake {
  readonly cause: DoctorCauseCode
  readonly key?: Bytes
  readonly signed?: (t: string, body: string) => string
}

const utf8 = (text: string): Bytes => new TextEncoder().encode(text)
/** Clocks that differ by less are no reason for a rejection, in milliseconds. */
const clockNoiseMs = 60_000

/**
 * Sends deliveries signed with one known mistake each, until one is accepted.
 * @param good - The rejected answer to a valid delivery.
 * @returns The mistake of the receiver, or null.
 */
export async function diagnose(bench: Bench, good: SocketAnswer, now: () => number): Promise<DoctorCauseCode | null> {
  for (const mistake of mistakesOf(bench)) if (isAccepted(await sendMistaken(bench, mistake))) return mistake.cause
  const drift = good.date === null ? 0 : good.date - now()
  if (Math.abs(drift) < clockNoiseMs) return null
  const delivery = await bench.deliveries.stale(bench.payment(), -Math.round(drift / 1_000))
  return isAccepted(await bench.send(delivery)) ? 'clock-wrong' : null
}

function mistakesOf({ signingSecret, apiSecret }: Bench): Mistake[] {
  const altered = [
    `"${signingSecret}"`,
    `'${signingSecret}'`,
    `${signingSecret}\n`,
    `${signingSecret} `,
    ` ${signingSecret}`,
  ]
  const trimmed = signingSecret.trim().replace(/^(["'])(.*)\1$/s, '$2')
  if (trimmed !== signingSecret && trimmed !== '') altered.push(trimmed)
  return [
    ...(apiSecret === undefined ? [] : [{ cause: 'api-secret-used', key: utf8(apiSecret) } as const]),
    ...altered.map((text) => ({ cause: 'secret-altered', key: utf8(text) }) as const),
    ...decodedKeys(signingSecret).map((key) => ({ cause: 'secret-decoded', key }) as const),
    { cause: 'body-parsed', signed: (t) => `${t}.[object Object]` },
    { cause: 'body-parsed', signed: (t) => `${t}.undefined` },
    { cause: 'body-parsed', signed: (t) => `${t}.` },
    { cause: 'body-reserialised', signed: (t, body) => `${t}.${JSON.stringify(JSON.parse(body), null, 2)}` },
    { cause: 'signed-string-wrong', signed: (_, body) => body },
    { cause: 'signed-string-wrong', signed: (t, body) => `${t}${body}` },
    { cause: 'signed-string-wrong', signed: (t, body) => `${body}.${t}` },
  ]
}

/** The secret as bytes of hex or Base64, also behind a prefix such as `whsec_`. */
function decodedKeys(secret: string): Bytes[] {
  return [...new Set([secret, secret.replace(/^[a-z]{1,16}_/, '')])].flatMap((text) => [
    ...(/^([0-9a-f]{2})+$/i.test(text) ? [new Uint8Array(Buffer.from(text, 'hex'))] : []),
    ...(/^[\w+/-]{8,}={0,2}$/.test(text) ? [new Uint8Array(Buffer.from(text, 'base64'))] : []),
  ])
}

async function sendMistaken(bench: Bench, { key, signed }: Mistake): Promise<SocketAnswer> {
  const text = JSON.stringify(bench.payment())
  const { body, t } = await bench.sign(text)
  const v1 = await hmacOf(key ?? utf8(bench.signingSecret), utf8(signed?.(t, text) ?? `${t}.${text}`))
  return bench.send(bench.deliver(body, `t=${t},v1=${v1}`))
}
