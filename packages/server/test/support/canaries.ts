/** Looks for values that must not appear, in every form in which they might. */

/** Kind of a canary: a secret appears nowhere; the others where a sink allows it. */
export type CanaryKind = 'secret' | 'url' | 'echo'

export interface Canary {
  readonly name: string
  readonly kind: CanaryKind
  readonly value: string
}

export interface Sink {
  readonly where: string
  /** Bytes are given as latin1. */
  readonly text: string
  /** @default none */
  readonly allows?: readonly CanaryKind[] | undefined
}

/** Each canary found and its place: `name in where`, once each. */
export function leaks(sinks: readonly Sink[], canaries: readonly Canary[]): string[] {
  const forms = canaries.map((canary) => ({ canary, forms: getForms(canary.value) }))
  const found = sinks.flatMap(({ where, text, allows = [] }) =>
    forms
      .filter(({ canary, forms: all }) => !allows.includes(canary.kind) && all.some((form) => text.includes(form)))
      .map(({ canary }) => `${canary.name} in ${where}`),
  )
  return [...new Set(found)]
}

/**
 * A value as text, hex, base64 and percent-encoded, and its bytes when it is hex or base64. Without the prefix of a
 * secret.
 */
function getForms(secret: string): string[] {
  const value = secret.replace(/^pi_[a-z]+_/, '')
  const bytes = [Buffer.from(value, 'utf8')]
  if (/^[0-9a-f]{32,}$/.test(value)) bytes.push(Buffer.from(value, 'hex'))
  else if (/^[\w-]{32,}$/.test(value)) bytes.push(Buffer.from(value, 'base64url'))
  const written = bytes.flatMap((each) => [
    ...[each.toString('hex'), each.toString('hex').toUpperCase()],
    ...[each.toString('base64').replace(/=+$/, ''), each.toString('base64url'), each.toString('latin1')],
  ])
  return [...new Set([value, encodeURIComponent(value), ...written])]
}
