/** Reads X-Service-Signature strictly, then leniently to name its flaw. Source: docs/interface.md 6, rule 3. @module */
import { signatureHeader } from '@payment-integration/contract'
import { getHeaderValues, type HeaderPair } from './explain-input.js'
import { type Fault, prove } from './finding.js'

type ShowText = (text: string) => string

const maxShownLength = 60
const maxShownNames = 8
/** Shorter secrets are not hidden: any text may contain such a word. */
const minHiddenLength = 4

/** Creates a function that makes foreign text safe to show, without any of `secrets`. */
export function createShowText(secrets: readonly string[]): ShowText {
  const hidden = [...new Set(secrets.flatMap((secret) => [secret, secret.trim()]))]
    .filter((secret) => secret.length >= minHiddenLength)
    .sort((a, b) => b.length - a.length)
  return (text) => {
    // The whole text is searched before it is cut: the beginning of a cut secret would remain.
    if (hidden.some((secret) => text.includes(secret))) return '(hidden: it contains a secret)'
    const head = text.slice(0, maxShownLength * 2).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '?')
    return head.length > maxShownLength ? `${head.slice(0, maxShownLength)}… (${text.length} characters)` : head
  }
}

/** Shows the first names of a list, and the number of the others. */
function formatNames(names: readonly string[], show: ShowText): string {
  const omitted = names.length - maxShownNames
  return `${names.slice(0, maxShownNames).map(show).join(', ')}${omitted > 0 ? ` and ${omitted} more` : ''}`
}

/** One field of the header. Its value is not shown. */
export interface HeaderField {
  /** `t`, `v1`, or the name of another field; shortened. */
  readonly name: string
  /** Length of the value in characters. */
  readonly length: number
  readonly status: 'ok' | 'malformed' | 'unknown'
}

/** The content of the signature header, without signatures. */
export interface HeaderReport {
  /** How many headers of this name arrived. */
  readonly count: number
  readonly fields: readonly HeaderField[]
  /** The value of `t`, if it is a number. */
  readonly t: number | null
  /** Names of the schemes, such as `v1`; shortened. */
  readonly schemes: readonly string[]
  /** Names of the other fields; shortened. */
  readonly unknownFields: readonly string[]
}

/** The signatures to compare with, and the text of `t` for which they were made. */
export interface SignatureCandidate {
  readonly t: string
  readonly codes: readonly string[]
}

/** The readable part of the header. */
interface ReadSignature {
  readonly report: HeaderReport
  /** The header's flaws; if empty, a verifier accepts the form of the header. */
  readonly faults: readonly Fault[]
  /** The signatures to compare with. The first uses the header's `t`; the others use a corrected one. */
  readonly candidates: readonly SignatureCandidate[]
  /** Unix time in seconds when the delivery was signed, if `t` gives one. */
  readonly signedAt: number | null
}

type Field = readonly [name: string, value: string]

const maxHeaderLength = 4_096
const maxCodes = 8
const maxShownFields = 16
const strictTime = /^(?:0|[1-9]\d{0,11})$/
const strictCode = /^[0-9a-f]{64}$/

export function parseSignature(pairs: readonly HeaderPair[], show: ShowText): ReadSignature {
  const values = getHeaderValues(pairs, signatureHeader).filter((value) => value.trim() !== '')
  if (values.length === 0) return findOtherName(pairs, show) ?? reportMissing(pairs, show)
  const joined = values.join(',')
  if (joined.length > maxHeaderLength) {
    const evidence = `The header has ${joined.length} characters; a verifier reads at most ${maxHeaderLength}.`
    return reportUnreadable(values.length, prove('signature_malformed', evidence))
  }
  const parsed = parseValue(joined, values.length, show)
  if (values.length === 1 || parsed.faults.length === 0) return parsed
  const headers = values.map((value) => parseValue(value, values.length, show))
  return {
    ...parsed,
    faults: [prove('signature_repeated', `The header arrived ${values.length} times.`)],
    candidates: headers.flatMap(({ candidates }) => candidates).slice(0, maxCodes),
    signedAt: headers[0]?.signedAt ?? null,
  }
}

function reportUnreadable(count: number, fault: Fault): ReadSignature {
  const report = { count, fields: [], t: null, schemes: [], unknownFields: [] }
  return { report, faults: [fault], candidates: [], signedAt: null }
}

function reportMissing(pairs: readonly HeaderPair[], show: ShowText): ReadSignature {
  const names = formatNames([...new Set(pairs.map(([name]) => name))], show)
  const evidence = pairs.length === 0 ? 'The request has no headers.' : `The headers that arrived: ${names}.`
  return reportUnreadable(0, prove('signature_missing', evidence))
}

/** Finds a signature under another header name, such as one that CGI or a proxy makes. */
function findOtherName(pairs: readonly HeaderPair[], show: ShowText): ReadSignature | null {
  for (const [name, value] of pairs) {
    if (value.length > maxHeaderLength) continue
    const parsed = parseValue(value, 0, show)
    if (!parsed.candidates.some(({ codes }) => codes.length > 0)) continue
    return { ...parsed, faults: [prove('signature_other_name', `Its name: ${show(name)}.`), ...parsed.faults] }
  }
  return null
}

function parseValue(value: string, count: number, show: ShowText): ReadSignature {
  const strict = parseStrictly(value)
  const { fields, changes } = strict === null ? parseLeniently(value) : { fields: strict, changes: [] }
  const times = fields.flatMap(([name, text]) => (name === 't' ? [text] : []))
  const codes = fields.flatMap(([name, text]) => (name === 'v1' ? [text] : []))
  const faults = changes.length > 0 ? [prove('signature_mangled', ...changes)] : []
  faults.push(...findFlaws(times, codes, fields, show))
  if (strict === null && faults.length === 0) faults.push(prove('signature_malformed', 'A field is not name=value.'))
  const [time = ''] = times
  const hex = codes.map((code) => code.toLowerCase()).filter((code) => strictCode.test(code))
  const seconds = /^\d{13}$/.test(time) ? time.slice(0, -3) : time
  const isTime = /^\d{1,13}$/.test(time)
  const candidates = isTime && hex.length > 0 ? [...new Set([time, seconds])].map((t) => ({ t, codes: hex })) : []
  return { report: buildReport(fields, count, show), faults, candidates, signedAt: isTime ? Number(seconds) : null }
}

function findFlaws(times: readonly string[], codes: readonly string[], fields: readonly Field[], show: ShowText) {
  const flaws: Fault[] = []
  const add = (code: Fault['code'], evidence: string) => void flaws.push(prove(code, evidence))
  const [time = ''] = times
  if (times.length !== 1) add('signature_malformed', `It has ${times.length} fields t; exactly one is expected.`)
  else if (/^\d{13}$/.test(time)) add('time_in_milliseconds', `t has 13 digits: ${time}.`)
  else if (!strictTime.test(time)) add('signature_malformed', 't is not 1 to 12 digits without a leading zero.')
  const wrong = codes.filter((code) => !strictCode.test(code))
  const upper = wrong.filter((code) => strictCode.test(code.toLowerCase()))
  const short = wrong.find((code) => /^[0-9a-f]{0,63}$/i.test(code))
  const lengths = wrong.map((code) => code.length).slice(0, maxCodes)
  if (codes.length > maxCodes) add('signature_malformed', `It has ${codes.length} fields v1; ${maxCodes} at most.`)
  if (short !== undefined) add('signature_truncated', `v1 has ${short.length} hex digits; 64 are expected.`)
  else if (wrong.length > upper.length)
    add('signature_malformed', `v1 has ${lengths.join(' and ')} characters that are not 64 hex digits.`)
  else if (upper.length > 0) add('signature_upper_case', 'v1 has 64 hex digits, some of them in upper case.')
  const schemes = fields.map(([name]) => name).filter(isScheme)
  if (codes.length === 0 && schemes.length > 0) add('scheme_unknown', `Its schemes: ${formatNames(schemes, show)}.`)
  else if (codes.length === 0) add('signature_malformed', 'It has no field v1.')
  return flaws
}

const isScheme = (name: string): boolean => /^v\d{1,4}$/.test(name)

function buildReport(fields: readonly Field[], count: number, show: ShowText): HeaderReport {
  const time = fields.find(([name]) => name === 't')?.[1] ?? ''
  const names = fields.map(([name]) => name)
  return {
    count,
    fields: fields
      .slice(0, maxShownFields)
      .map(([name, value]) => ({ name: show(name), length: value.length, status: toStatus(name, value) })),
    t: /^\d{1,13}$/.test(time) ? Number(time) : null,
    schemes: [...new Set(names.filter(isScheme))].slice(0, maxShownFields),
    unknownFields: [...new Set(names.filter((name) => name !== 't' && name !== 'v1'))]
      .slice(0, maxShownFields)
      .map(show),
  }
}

function toStatus(name: string, value: string): HeaderField['status'] {
  if (name !== 't' && name !== 'v1') return 'unknown'
  return (name === 't' ? strictTime : strictCode).test(value) ? 'ok' : 'malformed'
}

/** The fields as a verifier splits them, or null when it would reject the list itself. */
function parseStrictly(value: string): Field[] | null {
  const fields: Field[] = []
  for (const part of value.split(',')) {
    // A verifier allows spaces and tabs before a field, and after the value of a field that it reads.
    const field = part.replace(/^[ \t]+/, '')
    const at = field.indexOf('=')
    const name = field.slice(0, Math.max(at, 0))
    if (name === '' || /\s/.test(name)) return null
    const text = field.slice(at + 1)
    const [, fieldValue] = name === 't' || name === 'v1' ? (/^([0-9a-zA-Z]*)[ \t]*$/.exec(text) ?? []) : ['', text]
    if (fieldValue === undefined) return null
    fields.push([name, fieldValue])
  }
  return fields
}

/** The fields of a rewritten header, with each change that was undone. */
function parseLeniently(value: string): { fields: Field[]; changes: string[] } {
  const changes: string[] = []
  let text = value
  const undo = (changed: string, description: string) => {
    if (changed !== text) changes.push(description)
    text = changed
  }
  undo(
    text.replace(/%(?:3d|2c|20|22)/gi, (code) => decodeURIComponent(code)),
    'It is percent-encoded.',
  )
  undo(text.replace(/["'`[\]{}\\]/g, ''), 'It has quotes, brackets or backslashes.')
  if (!text.includes(',')) undo(text.replace(/[;&]/g, ','), 'Its fields are separated by ; or & instead of a comma.')
  undo(text.replace(/\s/g, ''), 'It has white space within a field.')
  if (!text.includes('=')) undo(text.replaceAll(':', '='), 'Its names and values are separated by : instead of =.')
  const fields = text.split(',').flatMap((part): Field[] => {
    const at = part.indexOf('=')
    return at > 0 ? [[part.slice(0, at), part.slice(at + 1)]] : []
  })
  if (fields.some(([name]) => name === 'T' || name === 'V1')) changes.push('Its names are in upper case.')
  return { fields: fields.map(([name, each]) => [/^(?:T|V1)$/.test(name) ? name.toLowerCase() : name, each]), changes }
}
