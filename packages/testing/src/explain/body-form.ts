/** Puts a snapshot back into the form in which the service writes it. Source: docs/interface.md 2.3. @module */
import { invoiceSchema, recipientSchema, snapshotSchema } from '@payment-integration/contract'

/** A JSON object. */
export type JsonRecord = Readonly<Record<string, unknown>>

/** The fields of a snapshot, in the snapshotFields of the contract. */
export const snapshotFields: readonly string[] = Object.keys(snapshotSchema.shape)
const recipientOrder = Object.keys(recipientSchema.shape)
const invoiceOrder = Object.keys(invoiceSchema.shape)
const amounts = ['amount', 'settlementAmount'] as const
const currencies: ReadonlySet<string> = new Set(['currency', 'settlementCurrency'])

/** Whether a value is a JSON object. */
export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Lists around a value that is written as a check, because others write it with more of the stack in use. */
const spareDepth = 256

/** Parses JSON; undefined when the text is not JSON, or is nested too deeply to be written again. */
export function parseJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    // JSON.parse takes any depth. JSON.stringify overflows the stack at some thousand levels.
    let nested = value
    for (let depth = 0; depth < spareDepth; depth++) nested = [nested]
    JSON.stringify(nested)
    return value
  } catch {
    return undefined
  }
}

/** Whether an object has at least three fields of a snapshot. */
export function looksLikeSnapshot(value: unknown): value is JsonRecord {
  return isRecord(value) && snapshotFields.filter((name) => Object.hasOwn(value, name)).length >= 3
}

/** The object with the fields of the contract first, in its order, then the others; nested objects too. */
export function inContractOrder(value: JsonRecord): JsonRecord {
  const sorted = sort(value, snapshotFields)
  return {
    ...sorted,
    ...(isRecord(sorted['recipient']) && { recipient: sort(sorted['recipient'], recipientOrder) }),
    ...(isRecord(sorted['invoice']) && { invoice: sort(sorted['invoice'], invoiceOrder) }),
  }
}

function sort(value: JsonRecord, names: readonly string[]): JsonRecord {
  const known = names.filter((name) => Object.hasOwn(value, name)).map((name) => [name, value[name]])
  return Object.fromEntries([...known, ...Object.entries(value).filter(([name]) => !names.includes(name))])
}

/** A snapshot with changed values put back, and a sentence for each. */
export interface RestoredSnapshot {
  readonly value: JsonRecord
  readonly changes: readonly string[]
}

/** Snapshots from which one with changed types may have come: every combination of plausible amounts. */
export function restoreSnapshots(value: JsonRecord): RestoredSnapshot[] {
  const base = restore(value)
  const invoice = base.value['invoice']
  let found: RestoredSnapshot[] = [base]
  if (isRecord(invoice))
    for (const name of amounts) {
      const amount = invoice[name]
      if (typeof amount !== 'number' && !/^\d{1,20}\.?\d{0,20}$/.test(String(amount))) continue
      found = found.flatMap((each) => amountForms(amount).map((form) => withAmount(each, name, form, amount)))
    }
  return found.filter(({ changes }) => changes.length > 0)
}

function withAmount(each: RestoredSnapshot, name: string, form: string, from: unknown): RestoredSnapshot {
  if (form === from) return each
  const changes = [
    ...each.changes,
    typeof from === 'number' ? `invoice.${name} is a number instead of a text.` : `invoice.${name} has other decimals.`,
  ]
  return { value: { ...each.value, invoice: { ...(each.value['invoice'] as JsonRecord), [name]: form } }, changes }
}

/** The texts that an amount may have had, such as 12.5 and 12.50. */
function amountForms(amount: unknown): string[] {
  const text = String(amount)
  if (!/^-?[0-9]+(?:\.[0-9]*)?$/.test(text)) return [text]
  const bare = text.includes('.') ? text.replace(/0{1,20}$/, '').replace(/\.$/, '') : text
  const decimals = bare.split('.')[1]?.length ?? 0
  const padded = [1, 2]
    .filter((digits) => digits > decimals)
    .map((digits) => {
      const dotted = decimals === 0 ? `${bare}.` : bare
      return `${dotted}${'0'.repeat(digits - decimals)}`
    })
  return [...new Set([text, bare, ...padded])]
}

function restore(value: JsonRecord): RestoredSnapshot {
  const changes: string[] = []
  const next: Record<string, unknown> = {}
  const put = (name: string, from: unknown, to: unknown, change: string) => {
    next[name] = to
    if (from !== to) changes.push(`${name} ${change}.`)
  }
  for (const name of snapshotFields) {
    const from = value[name]
    if (from === undefined && ['state', 'recipient', 'invoice'].includes(name))
      put(name, from, null, 'is missing instead of null')
    else if (name === 'version' && typeof from === 'string' && /^\d{1,15}$/.test(from))
      put(name, from, Number(from), 'is a text instead of a number')
    else if (name === 'chainId' && typeof from === 'number')
      put(name, from, String(from), 'is a number instead of a text')
    else if (name === 'state' && from === '') put(name, from, null, 'is empty instead of null')
    else if (['state', 'integrationAddress', 'txHash'].includes(name) && typeof from === 'string')
      put(name, from, from.toLowerCase(), 'has capital letters')
    else if (name === 'recipient' && isRecord(from)) next[name] = restoreRecipient(from, changes)
    else if (name === 'invoice' && isRecord(from)) next[name] = restoreInvoice(from, changes)
    else if (from !== undefined) next[name] = from
  }
  const added = Object.keys(value).filter((name) => !snapshotFields.includes(name)).length
  if (added > 0) changes.push(`Fields that the contract does not name: ${added}.`)
  return { value: next, changes }
}

function restoreRecipient(from: JsonRecord, changes: string[]): JsonRecord {
  const { title, subtitle } = from
  if (subtitle === undefined) changes.push('recipient.subtitle is missing instead of null.')
  if (subtitle === '') changes.push('recipient.subtitle is empty instead of null.')
  return { title, subtitle: subtitle === undefined || subtitle === '' ? null : subtitle }
}

function restoreInvoice(from: JsonRecord, changes: string[]): JsonRecord {
  const named = invoiceOrder.filter((name) => Object.hasOwn(from, name))
  return Object.fromEntries(
    named.map((name) => {
      const value = from[name]
      if (!currencies.has(name) || typeof value !== 'string' || value === value.toUpperCase()) return [name, value]
      changes.push(`invoice.${name} is in lower case.`)
      return [name, value.toUpperCase()]
    }),
  )
}
