/** Explains whether and why a delivery verifies. Source: docs/interface.md 6; docs/explain.md. @module */
import { integrationHeader, snapshotSchema } from '@payment-integration/contract'
import { parseContentLength } from '@payment-integration/contract/internal-io'
import { type CheckedInput, checkInput, type ExplainInput, getHeaderValues, type RoleSecret } from './explain-input.js'
import { findMatch, type Match } from './find-match.js'
import type { ExplainFinding, Fault, FindingCode } from './finding.js'
import { descriptions, frameworkLines, prove, suspect } from './finding.js'
import { createShowText, type HeaderReport, parseSignature } from './signature-header.js'
import { detectCompression, fromUtf8, trimSecret } from './undo.js'
import { findMissingEnd, isRecord, parseJson, sortFields } from './undo-json.js'

const parsedBody = prove('body_parsed', 'The body is neither bytes nor a text.')

/** The fault of the body that shows without a signature. */
function findBodyFault({ body, pairs, isParsed }: CheckedInput): Fault | null {
  const size = `The body has ${body.length} bytes.`
  if (isParsed) return parsedBody
  if (body.length === 0) return prove('body_missing', size)
  const compression = detectCompression(body)
  if (compression !== null) return suspect('body_compressed', `Its bytes are ${compression}.`)
  const declared = parseContentLength(getHeaderValues(pairs, 'content-length')[0]?.trim())
  if (declared !== null && declared > body.length)
    return suspect('body_truncated', `${size} Content-Length is ${declared}.`)
  const text = fromUtf8(body)
  if (text === null) return suspect('body_charset', 'The bytes are not UTF-8.')
  if (/^\s{0,8}\[object \w{1,32}\]\s{0,8}$/.test(text))
    return prove('body_object_string', `${size} They are the name of a type.`)
  const replaced = text.split('\ufffd').length - 1
  if (replaced > 0) return suspect('body_replaced_characters', `Replacement characters: ${replaced}.`)
  const value = parseJson(text)
  if (value === undefined && /^\s{0,8}\{/.test(text) && findMissingEnd(text) !== null)
    return suspect('body_truncated', `${size} The JSON has no end.`)
  if (value === undefined) return prove('body_not_json', `${size} They are not JSON.`)
  const traces = findTraces(value, text)
  return traces.length === 0 ? null : suspect('body_changed', size, ...traces)
}

/** The ways in which a text differs from what the service writes; none when the service could have written it. */
function findTraces(value: unknown, text: string): string[] {
  if (!isRecord(value)) return ['It is no JSON object.']
  const parsed = snapshotSchema.safeParse(value)
  const wrong = parsed.success ? [] : listWrongFields(parsed.error.issues)
  const compact = JSON.stringify(value)
  return [
    ...(wrong.length > 0 ? [`Wrong or missing: ${wrong.join(', ')}.`] : []),
    ...(compact === text ? [] : ['It has blanks or escapes that the service does not write.']),
    ...(compact === JSON.stringify(sortFields(value)) ? [] : ['Its fields are not in the order of the contract.']),
  ]
}

/** The names of wrong fields, which come from the schema and not from the body. */
function listWrongFields(issues: readonly { readonly path: readonly PropertyKey[] }[]): string[] {
  return [...new Set(issues.map(({ path }) => path.join('.')))].slice(0, 8)
}

/** Faults of the secrets that show without a signature: a verifier rejects blank and padded secrets. */
function findSecretFaults(secrets: readonly RoleSecret[]): Fault[] {
  const api = secrets.find(({ role }) => role === 'api')?.value
  return secrets
    .filter(({ role }) => role === 'current')
    .flatMap(({ name, value }) => {
      const origin = `It is ${name}.`
      if (trimSecret(value) === '') return prove('secret_empty', origin)
      if (value !== value.trim()) return prove('secret_whitespace', origin)
      if (value === api) return prove('secret_is_api_secret', origin, 'It equals the API secret.')
      if (value.startsWith('pi_api_')) return suspect('secret_is_api_secret', origin, 'It begins like an API secret.')
      return /^(["'`]).*\1$/s.test(value) ? suspect('secret_quoted', origin) : []
    })
}

/** The explanation of a delivery, without any secret, signature or content of the body. */
export interface Explanation {
  /** Whether a verifier with these secrets and this clock accepts the delivery. */
  readonly verified: boolean
  /** `matches`: as it arrived. `repaired`: with proved faults undone. `differs`: never. `unreadable`: no signature. */
  readonly signature: 'matches' | 'repaired' | 'differs' | 'unreadable'
  readonly header: HeaderReport
  /** Seconds from `t` to the clock; negative when `t` is ahead, null without a `t`. */
  readonly ageSeconds: number | null
  /** The tolerance that was applied, in seconds. */
  readonly toleranceSeconds: number
  /** The number of bytes of the body as it arrived. */
  readonly bodyBytes: number
  /** The number of signed bytes, `t` and the dot included; null when no candidate gives the signature. */
  readonly signedBytes: number | null
  /** The name of the secret that gives the signature; null: none. */
  readonly signedBy: string | null
  /** Proved faults, then likely ones, then faults of clock and content; in each group the most specific first. */
  readonly findings: readonly ExplainFinding[]
}

/** The default `maxBytes` of receivers. */
const maxReceiverBytes = 262_144
const ranks = new Map(Object.keys(descriptions).map((code, index) => [code, index]))

/**
 * Explains a delivery. When the signature does not match, it undoes known changes of body, secret and header, one after
 * another. When it then matches, the undone changes are the proved cause. A body of more than 1 MiB is not hashed, and
 * is `body_too_large`.
 * @throws {TypeError} Without headers, secrets or a clock.
 * @throws {RangeError} When the tolerance or the time is out of range.
 * @example
 * import { explainDelivery } from '@payment-integration/testing/explain'
 * const headers = { 'x-service-signature': 't=1700000000,v1=00' }
 * const { findings } = await explainDelivery({ headers, body: '{}', secrets: 'whsec_test', clock: Date })
 */
export async function explainDelivery(input: ExplainInput): Promise<Explanation> {
  const checked = checkInput(input)
  const { pairs, body, secrets, toleranceSeconds, nowMs } = checked
  const show = createShowText(secrets.map(({ value }) => value))
  const signature = parseSignature(pairs, show)
  const match = await findMatch(signature.candidates, body, secrets)
  const ageSeconds = signature.signedAt === null ? null : Math.floor(nowMs / 1_000 - signature.signedAt)
  const faults = [
    ...signature.faults,
    // Without a readable signature, body and secret cannot be compared: only certain faults count.
    ...findMatchFaults(checked, match).filter((fault) => fault.proved || signature.candidates.length > 0),
    ...findClockFaults(ageSeconds, toleranceSeconds),
    ...findContentFaults(checked, match),
  ]
  const isExact =
    match !== null &&
    !checked.isParsed &&
    match.bodyFaults.length + match.keyFaults.length === 0 &&
    match.candidateIndex === 0
  const unmatched = signature.candidates.length === 0 ? 'unreadable' : 'differs'
  return {
    verified: isExact && faults.length === 0,
    signature: match === null ? unmatched : isExact ? 'matches' : 'repaired',
    header: signature.report,
    ageSeconds,
    toleranceSeconds,
    bodyBytes: body.length,
    signedBytes:
      match === null ? null : match.body.length + (signature.candidates[match.candidateIndex]?.t.length ?? 0) + 1,
    signedBy: match === null ? null : show(match.secret.name),
    findings: buildFindings(faults),
  }
}

/** The faults that the search undid, or the likely faults when nothing matched. */
function findMatchFaults(checked: CheckedInput, match: Match | null): Fault[] {
  const { body, secrets, isParsed } = checked
  const faultsOfSecrets = findSecretFaults(secrets)
  if (body.length > maxReceiverBytes)
    return [...faultsOfSecrets, prove('body_too_large', `The body has ${body.length} bytes.`)]
  if (match === null) {
    const bodyFault = findBodyFault(checked)
    const faults = bodyFault === null ? faultsOfSecrets : [bodyFault, ...faultsOfSecrets]
    if (faults.length > 0) return faults
    return [suspect('secret_wrong', 'The fields, their order and the blanks are those of the service.')]
  }
  const { keyFaults, secret } = match
  const signer = `The key that signed is ${secret.name}.`
  const bodyFaults = match.bodyFaults.map(({ code, evidence }, index) =>
    prove(code, ...evidence, ...(index === 0 ? [describeDifference(body, match.body)] : [])),
  )
  return [
    ...(isParsed ? [parsedBody] : bodyFaults),
    ...keyFaults.map(({ code, evidence }) => prove(code, `It is ${secret.name}.`, ...evidence)),
    ...(secret.role === 'api' ? [prove('secrets_swapped', signer)] : []),
    ...(secret.role === 'previous' ? [prove('secret_previous', signer)] : []),
    // A flawed secret makes a verifier reject the whole list, even when another secret signed.
    ...faultsOfSecrets.filter(
      (fault) => fault.proved && !(keyFaults.length > 0 && fault.evidence[0] === `It is ${secret.name}.`),
    ),
  ]
}

function describeDifference(arrived: Uint8Array, signed: Uint8Array): string {
  const length = Math.max(arrived.length, signed.length)
  let at = 0
  while (at < length && arrived[at] === signed[at]) at++
  return `${arrived.length} bytes arrived and ${signed.length} were signed; they differ from byte ${at + 1} on.`
}

function findClockFaults(ageSeconds: number | null, toleranceSeconds: number): Fault[] {
  if (ageSeconds === null || Math.abs(ageSeconds) <= toleranceSeconds) return []
  const distance = Math.abs(ageSeconds)
  const hours = Math.round(distance / 1_800) / 2
  const isZone = hours > 0 && hours <= 14 && Math.abs(distance - hours * 3_600) <= 5
  const evidence = [
    `t is ${distance} seconds ${ageSeconds > 0 ? 'before' : 'after'} the clock; up to ${toleranceSeconds} are accepted.`,
    ...(isZone ? [`That is ${hours} hours almost to the second: a clock may run in local time instead of UTC.`] : []),
  ]
  return [prove(ageSeconds > 0 ? 'delivery_stale' : 'delivery_future', ...evidence)]
}

/** Faults of the signed snapshot and of the header that names its integration. */
function findContentFaults({ pairs, body }: CheckedInput, match: Match | null): Fault[] {
  const value = parseJson(fromUtf8(match?.body ?? body) ?? '')
  const faults: Fault[] = []
  const [header, ...others] = getHeaderValues(pairs, integrationHeader)
  const address = isRecord(value) ? value['integrationAddress'] : undefined
  if (header === undefined) faults.push(prove('integration_missing', 'The header is absent.'))
  else if (others.length > 0 && typeof address === 'string')
    faults.push(prove('integration_mismatch', `The header arrived ${others.length + 1} times.`))
  else if (typeof address === 'string' && header !== address) {
    const isSameAddress = header.trim().toLowerCase() === address.toLowerCase()
    const evidence = isSameAddress ? 'They differ only in capital letters or blanks.' : 'They are different texts.'
    faults.push(prove('integration_mismatch', evidence))
  }
  const parsed = match === null ? null : snapshotSchema.safeParse(value)
  if (parsed?.success === false) {
    const names = listWrongFields(parsed.error.issues)
    const evidence = names.includes('') ? 'The body is no JSON object.' : `Wrong or missing: ${names.join(', ')}.`
    faults.push(prove('snapshot_invalid', evidence))
  }
  return faults
}

function buildFindings(faults: readonly Fault[]): ExplainFinding[] {
  const faultsByCode = new Map<FindingCode, Fault>()
  for (const fault of faults) {
    const earlier = faultsByCode.get(fault.code)
    faultsByCode.set(fault.code, earlier === undefined ? fault : mergeFaults(earlier, fault))
  }
  return [...faultsByCode.values()]
    .sort((a, b) => computeRank(a) - computeRank(b))
    .map(({ code, proved, evidence }) => {
      const { cause, change, isRawBody } = descriptions[code]
      return { code, proved, cause, evidence, change, lines: isRawBody ? frameworkLines : [] }
    })
}

/** Sorts findings: proved faults, likely ones, then faults of clock and content, which may accompany any other. */
function computeRank({ code, proved }: Fault): number {
  const group = /^(?:delivery|integration|snapshot)_/.test(code) ? 2 : proved ? 0 : 1
  return group * ranks.size + (ranks.get(code) ?? 0)
}

function mergeFaults(a: Fault, b: Fault): Fault {
  return { code: a.code, proved: a.proved || b.proved, evidence: [...new Set([...a.evidence, ...b.evidence])] }
}
