/** Names the likely faults of a delivery whose signature no candidate gives. @module */
import { snapshotSchema } from '@payment-integration/contract'
import { inContractOrder, isRecord, parseJson } from './body-form.js'
import type { CheckedInput, RoleSecret } from './explain-input.js'
import type { Fault } from './finding.js'
import { valuesOf } from './read-headers.js'
import { trimSecret } from './secret-candidates.js'
import { fromUtf8 } from './text-codes.js'
import { compressionOf } from './undo-bytes.js'
import { missingEnd } from './undo-json.js'

/** A fault, with whether it alone explains the failure. */
export interface LikelyFault extends Fault {
  readonly proved: boolean
}

/** Faults of the body that need no signature to be seen, the first of which explains most. */
export function bodyFaults({
  body,
  pairs,
  isParsed,
}: Pick<CheckedInput, 'body' | 'pairs' | 'isParsed'>): LikelyFault[] {
  const size = `The body has ${body.length} bytes.`
  if (isParsed) return [{ code: 'body_parsed', proved: true, evidence: ['The body is neither bytes nor a text.'] }]
  if (body.length === 0) return [{ code: 'body_missing', proved: true, evidence: [size] }]
  const compression = compressionOf(body)
  if (compression !== null)
    return [{ code: 'body_compressed', proved: false, evidence: [`Its bytes are ${compression}.`] }]
  const declared = declaredLength(pairs)
  if (declared !== null && declared > body.length)
    return [{ code: 'body_truncated', proved: false, evidence: [`${size} Content-Length is ${declared}.`] }]
  const text = fromUtf8(body)
  if (text === null) return [{ code: 'body_charset', proved: false, evidence: ['The bytes are not UTF-8.'] }]
  if (/^\s{0,8}\[object \w{1,32}\]\s{0,8}$/.test(text))
    return [{ code: 'body_object_string', proved: true, evidence: [`${size} They are the name of a type.`] }]
  return ofText(text, size)
}

function ofText(text: string, size: string): LikelyFault[] {
  if (text.includes('\ufffd')) {
    const count = text.split('\ufffd').length - 1
    return [{ code: 'body_replaced_characters', proved: false, evidence: [`Replacement characters: ${count}.`] }]
  }
  const value = parseJson(text)
  if (value === undefined && /^\s{0,8}\{/.test(text) && missingEnd(text) !== null)
    return [{ code: 'body_truncated', proved: false, evidence: [`${size} The JSON has no end.`] }]
  if (value === undefined) return [{ code: 'body_not_json', proved: true, evidence: [`${size} They are not JSON.`] }]
  const traces = tracesOf(value, text)
  return traces.length === 0 ? [] : [{ code: 'body_changed', proved: false, evidence: [size, ...traces] }]
}

/** The ways in which a text differs from what the service writes; none when the service could have written it. */
function tracesOf(value: unknown, text: string): string[] {
  if (!isRecord(value)) return ['It is no JSON object.']
  const read = snapshotSchema.safeParse(value)
  const wrong = read.success ? [] : wrongFields(read.error.issues)
  const compact = JSON.stringify(value)
  return [
    ...(wrong.length > 0 ? [`Wrong or missing: ${wrong.join(', ')}.`] : []),
    ...(compact === text ? [] : ['It has blanks or escapes that the service does not write.']),
    ...(compact === JSON.stringify(inContractOrder(value)) ? [] : ['Its fields are not in the order of the contract.']),
  ]
}

/** Names of wrong fields. They come from the schema, not from the body. */
export function wrongFields(issues: readonly { readonly path: readonly PropertyKey[] }[]): string[] {
  return [...new Set(issues.map(({ path }) => path.join('.')))].slice(0, 8)
}

function declaredLength(pairs: CheckedInput['pairs']): number | null {
  const [value = ''] = valuesOf(pairs, 'content-length')
  return /^\d{1,12}$/.test(value.trim()) ? Number(value) : null
}

/** Faults of the secrets that can be seen without a signature: a verifier accepts none that is blank or padded. */
export function secretFaults(secrets: readonly RoleSecret[]): LikelyFault[] {
  const api = secrets.find(({ role }) => role === 'api')?.value
  return secrets
    .filter(({ role }) => role === 'current')
    .flatMap(({ name, value }): LikelyFault[] => {
      const evidence = [`It is ${name}.`]
      if (trimSecret(value) === '') return [{ code: 'secret_empty', proved: true, evidence }]
      if (value !== value.trim()) return [{ code: 'secret_whitespace', proved: true, evidence }]
      if (value === api)
        return [{ code: 'secret_is_api_secret', proved: true, evidence: [...evidence, 'It equals the API secret.'] }]
      if (value.startsWith('pi_api_'))
        return [
          { code: 'secret_is_api_secret', proved: false, evidence: [...evidence, 'It begins like an API secret.'] },
        ]
      if (/^(["'`]).*\1$/s.test(value)) return [{ code: 'secret_quoted', proved: false, evidence }]
      return []
    })
}
