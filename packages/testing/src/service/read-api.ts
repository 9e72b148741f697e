/** Answers the four endpoints of the read API. Source: docs/interface.md 4.1, 7. @module */
import { type PageBody, type PaymentBody, pageLimit, pageWriteSchema } from '@payment-integration/contract'
import { answer, refuse } from './answers.js'
import { after, cursorAfter } from './cursor.js'
import type { TestPayments } from './payments.js'

/** A request of an authenticated integration. */
export interface ReadRequest {
  readonly caller: string
  readonly url: URL
  /** The raw parameters of the path. */
  readonly txHash?: string | undefined
  readonly address?: string | undefined
}

/** Answers a list: all payments of the caller, or of one wallet. */
export function listPayments(payments: TestPayments, { caller, url, address }: ReadRequest): Response {
  const wallet = readAddress(address)
  if (wallet === null) return badAddress()
  const limit = readLimit(url.searchParams.getAll('limit'))
  if (limit === null)
    return refuse(400, `limit must be an integer from ${pageLimit.min} to ${pageLimit.max}`, {
      maxLimit: pageLimit.max,
    })
  const name = { integration: caller, wallet }
  const list = payments.of(caller).filter(isOf(wallet))
  const cursors = url.searchParams.getAll('cursor')
  const rest = cursors.length === 0 ? list : cursors.length > 1 ? null : after(list, name, cursors[0] ?? '')
  if (rest === null) return refuse(400, 'Invalid cursor')
  const shown = rest.slice(0, limit)
  const last = shown.at(-1)
  const nextCursor = rest.length > limit && last !== undefined ? cursorAfter(name, last) : null
  return answer(pageWriteSchema.parse({ payments: shown, nextCursor } satisfies PageBody))
}

/** Answers one payment: of the caller, or of the caller and one wallet. */
export function getPayment(payments: TestPayments, { caller, txHash = '', address }: ReadRequest): Response {
  const wallet = readAddress(address)
  if (wallet === null) return badAddress()
  if (!/^0x[0-9a-fA-F]{64}$/.test(txHash))
    return refuse(400, 'txHash must be a 32-byte hex string: 0x and 64 hex digits')
  const found = payments
    .of(caller)
    .filter(isOf(wallet))
    .filter((payment) => payment.txHash === txHash.toLowerCase())
  const [payment] = found
  if (payment === undefined) return refuse(404, 'Payment not found')
  if (found.length > 1)
    return refuse(
      409,
      'Transaction hash is indexed on more than one destination chain; narrow it with the wallet-scoped endpoint',
    )
  return answer(payment)
}

/** Whether a wallet sent or received a payment. An empty wallet matches all. */
function isOf(wallet: string): (payment: PaymentBody) => boolean {
  return ({ sender, receiver }) => wallet === '' || sender === wallet || receiver === wallet
}

/** The wallet in lowercase; empty when the path names none; null for a malformed address. */
function readAddress(text: string | undefined): string | null {
  if (text === undefined) return ''
  return /^0x[0-9a-fA-F]{40}$/.test(text) ? text.toLowerCase() : null
}

function badAddress(): Response {
  return refuse(400, 'address must be a 20-byte hex string: 0x and 40 hex digits')
}

function readLimit([text, ...more]: readonly string[]): number | null {
  if (text === undefined) return pageLimit.default
  const limit = /^[1-9][0-9]{0,2}$/.test(text) && more.length === 0 ? Number(text) : 0
  return limit >= pageLimit.min && limit <= pageLimit.max ? limit : null
}
