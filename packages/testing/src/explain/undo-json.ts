/** Undoes changes to the JSON of a body. @module */
import { invoiceSchema, recipientSchema, snapshotSchema } from '@payment-integration/contract'
import { decodeBase64, type Undone } from './undo.js'

export type JsonRecord = Readonly<Record<string, unknown>>

/** The fields of a snapshot, in the order of the contract's schema. */
const snapshotFields: readonly string[] = Object.keys(snapshotSchema.shape)
const recipientOrder = Object.keys(recipientSchema.shape)
const invoiceOrder = Object.keys(invoiceSchema.shape)

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Extra nesting for a trial write, because later writes start with more of the stack in use. */
const extraDepth = 256

/** Parses JSON; undefined when the text is not JSON, or nested too deeply to be written. */
export function parseJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    // JSON.parse accepts any depth, but JSON.stringify overflows the stack at some thousand levels.
    let nested = value
    for (let depth = 0; depth < extraDepth; depth++) nested = [nested]
    JSON.stringify(nested)
    return value
  } catch {
    return undefined
  }
}

/** Whether an object has at least three fields of a snapshot. */
function looksLikeSnapshot(value: unknown): value is JsonRecord {
  return isRecord(value) && snapshotFields.filter((name) => Object.hasOwn(value, name)).length >= 3
}

/** Sorts the fields of an object and of nested ones: the contract's fields in its order, then all others. */
export function sortFields(value: JsonRecord): JsonRecord {
  const sorted = sort(value, snapshotFields)
  return {
    ...sorted,
    ...(isRecord(sorted['recipient']) && { recipient: sort(sorted['recipient'], recipientOrder) }),
    ...(isRecord(sorted['invoice']) && { invoice: sort(sorted['invoice'], invoiceOrder) }),
  }
}

function sort(value: JsonRecord, names: readonly string[]): JsonRecord {
  const knownFields = names.filter((name) => Object.hasOwn(value, name)).map((name) => [name, value[name]])
  return Object.fromEntries([...knownFields, ...Object.entries(value).filter(([name]) => !names.includes(name))])
}

export function undoJson(text: string): readonly Undone[] {
  const value = parseJson(text)
  if (typeof value === 'string') return [['body_double_encoded', value, 'The body is one JSON text.']]
  if (Array.isArray(value))
    return value.length === 1 && isRecord(value[0])
      ? [['body_envelope', JSON.stringify(value[0]), 'The body is a list with one object.']]
      : undoByteValues(value, 'The body is a JSON list of bytes.')
  if (isRecord(value)) return looksLikeSnapshot(value) ? undoInSnapshot(value, text) : undoInObject(value)
  return value === undefined ? [...undoByteList(text), ...undoTruncation(text)] : []
}

/** The snapshot as the service writes it, in the given order of fields and in the contract's. */
function undoInSnapshot(value: JsonRecord, text: string): Undone[] {
  const written = findWriterTraces(text)
  const order = 'The fields are not in the order of the contract.'
  return [
    ['body_reencoded', JSON.stringify(value), ...written],
    ['body_reordered', JSON.stringify(sortFields(value)), ...written, order],
  ]
}

/** Traces of a JSON writer other than the service's. */
function findWriterTraces(text: string): string[] {
  const traces = [
    [/^\s*\{\s*\n/.test(text), 'It is indented.'],
    [/", "|": "|": \{|: null|": \d/.test(text), 'It has blanks after colons or commas.'],
    [/\\u[0-9a-fA-F]{4}/.test(text), 'It has characters written as \\uXXXX.'],
    [text.includes('\\/'), 'It has slashes written as \\/.'],
  ] as const
  return traces.flatMap(([isFound, sentence]) => (isFound ? [sentence] : []))
}

const envelopeFields = ['body', 'rawBody', 'payload', 'data', 'Body', 'Message', 'message', 'content', 'json'] as const

/** Objects that hold the body: events of gateways and queues, Buffers as JSON, maps from index to byte. */
function undoInObject(value: JsonRecord): Undone[] {
  const names = Object.keys(value)
  if (value['type'] === 'Buffer' && Array.isArray(value['data']))
    return undoByteValues(value['data'], 'The body is a Buffer as JSON.')
  if (names[0] === '0' && names.every((name, index) => name === String(index)))
    return undoByteValues(Object.values(value), 'The body maps each index to a byte.')
  const [key = ''] = names
  // A form parser turns the JSON into a name without a value.
  if (names.length === 1 && /^\s{0,64}\{/.test(key) && value[key] === '')
    return [['body_form_encoded', key, 'The JSON is the name of a form field without a value.']]
  return envelopeFields.flatMap((name) => undoInField(name, value))
}

function undoInField(name: string, value: JsonRecord): Undone[] {
  const inner = value[name]
  if (isRecord(inner)) return [['body_envelope', JSON.stringify(inner), `The field ${name} has the body, parsed.`]]
  if (typeof inner !== 'string') return []
  const flag = value['isBase64Encoded'] === true ? ' isBase64Encoded is true.' : ''
  return [
    ['body_envelope', inner, `The field ${name} has the body.`],
    ['body_envelope', decodeBase64(inner), `The field ${name} has the body in base64.${flag}`],
  ]
}

/** The bytes that were written as numbers. Empty for fewer than two values, or when one is no byte. */
function undoByteValues(values: readonly unknown[], evidence: string): Undone[] {
  const isByte = (value: unknown) => Number.isInteger(value) && (value as number) >= 0 && (value as number) < 256
  if (values.length < 2 || !values.every(isByte)) return []
  return [['body_stringified_bytes', Uint8Array.from(values as number[]), evidence]]
}

/** Reads bytes printed as `123,34,105`, with or without blanks, or as the hex pairs of a logged Buffer. */
function undoByteList(text: string): Undone[] {
  if (/^<Buffer [0-9a-f ]{2,}>$/.test(text.trim())) {
    const pairs = text.trim().slice(8, -1).split(' ')
    const bytes = pairs.map((pair) => Number.parseInt(pair, 16))
    return undoByteValues(bytes, 'The body is a printed Buffer.')
  }
  if (!/^\d{1,3},[\d, ]{1,}$/.test(text.trim())) return []
  return undoByteValues(text.split(',').map(Number), 'The body is a list of bytes with commas.')
}

/** Appends the closing marks that the JSON lacks. */
function undoTruncation(text: string): Undone[] {
  const missing = findMissingEnd(text)
  if (missing === null || missing === '') return []
  return [['body_truncated', `${text}${missing}`, `Closing marks that are missing: ${missing.length}.`]]
}

/** The closing marks that a JSON text lacks; null when it lacks none, or has a wrong one. */
export function findMissingEnd(text: string): string | null {
  const open: string[] = []
  let isText = false
  for (let index = 0; index < text.length; index++) {
    const character = text[index]
    if (isText && character === '\\') index++
    else if (character === '"') isText = !isText
    else if (isText) continue
    else if (character === '{') open.push('}')
    else if (character === '[') open.push(']')
    else if ((character === '}' || character === ']') && open.pop() !== character) return null
  }
  if (open.length === 0 && !isText) return null
  return `${isText ? '"' : ''}${open.reverse().join('')}`
}
