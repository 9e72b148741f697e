/** Describes an event of a scenario in a row. The event comes from the host, so no field is trusted. @module */
import type { JobRow } from '../jobs/job-types.js'
import { paymentPath } from '../view/parts.js'
import { grouped } from '../view/text.js'

type Event = Readonly<Record<string, unknown>>

/** The row. */
export function triggerRow(given: object): JobRow {
  const event = given as Event
  const word = text(event['event'])
  const row = { word, text: textOf(word, event), tone: toneOf(word, event) }
  const path = pathOf(event)
  return path === undefined ? row : { ...row, path }
}

function textOf(word: string, event: Event): string {
  const { chainId, blockNumber, txHashes, txHash, version, state, status, expected, included, payments } = event
  switch (word) {
    case 'block':
      return `Block ${text(blockNumber)} of chain ${text(chainId)}: ${count(list(txHashes).length, 'payment')}`
    case 'update':
      return `The processor's update of ${short(txHash)}: ${text(state)}`
    case 'snapshot':
      return `Version ${text(version)} of ${short(txHash)}: ${text(state ?? 'no state')}`
    case 'delivery':
      return `Version ${text(version)} of ${short(txHash)} was answered ${text(status ?? 'nothing')}; a correct receiver: ${text(expected)}`
    case 'reorganised':
      return `${short(txHash)} ${included === true ? 'is in another block' : 'left the chain'}`
    case 'share':
      return `A verification was shared: status ${text(status)}`
    case 'done':
      return `${count(Number(payments), 'payment')}, ${count(Number(event['snapshots']), 'snapshot')}`
    default:
      return text(event['reason'] ?? '')
  }
}

function toneOf(word: string, { status }: Event): NonNullable<JobRow['tone']> {
  if (word === 'failed') return 'bad'
  if (word === 'done') return 'good'
  return word === 'delivery' ? (Number(status) >= 200 && Number(status) < 300 ? 'good' : 'bad') : 'plain'
}

/** The page of the event's payment. */
function pathOf({ chainId, txHash, txHashes }: Event): string | undefined {
  const hash = text(txHash ?? list(txHashes)[0])
  const isPayment = /^\d{1,15}$/.test(text(chainId)) && /^0x[0-9a-f]{64}$/.test(hash)
  return isPayment ? paymentPath({ chainId: Number(chainId), txHash: hash }) : undefined
}

const text = (value: unknown) => (typeof value === 'string' ? value : String(value ?? ''))
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
const short = (value: unknown) => `${text(value).slice(0, 10)}…`
const count = (number: number, noun: string) => `${grouped(number)} ${noun}${number === 1 ? '' : 's'}`
