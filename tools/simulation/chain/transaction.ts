/** Transactions of the fake chain, their logs and their true payments. @module */
import { encodeAbiParameters, type Hex, keccak256, parseAbiParameters, stringToHex, toHex } from 'viem'
import type { Draws } from '../random.js'

/** A log that is not in a block yet. */
export interface FakeLog {
  readonly address: Hex
  readonly topics: readonly Hex[]
  readonly data: Hex
}

/** A true payment; its block decides its position. */
export interface TruePayment {
  /** Position among the logs of its transaction, from 0. */
  readonly logPosition: number
  readonly router: { readonly address: Hex; readonly version: string }
  readonly sender: Hex
  readonly receiver: Hex
  readonly token: Hex
  readonly gross: bigint
  readonly net: bigint
  readonly memo: Hex
}

/** A transaction, mined or not. */
export interface FakeTransaction {
  readonly hash: Hex
  readonly type: 0 | 2
  readonly nonce: number
  readonly from: Hex
  readonly to: Hex
  readonly value: bigint
  readonly input: Hex
  readonly succeeded: boolean
  readonly logs: readonly FakeLog[]
  /** By log position. */
  readonly payments: readonly TruePayment[]
  /** The integration that the payments name, or null. */
  readonly integration: Hex | null
  /** The number of its router logs that are no payments. */
  readonly malformedCount: number
}

/** The listed routers, the tokens and the integrations of the fake world. */
export const fixtures = {
  routers: [
    { address: `0x${'f6'.repeat(20)}`, version: '0.6' },
    { address: `0x${'f8'.repeat(20)}`, version: '0.8' },
  ] as readonly { readonly address: Hex; readonly version: string }[],
  /** An unlisted contract that emits the same events. */
  unlistedRouter: `0x${'5a'.repeat(20)}` as Hex,
  /** Payers and payees. They are few, because hashing them for the filters takes most of a simulated block's time. */
  wallets: Array.from({ length: 24 }, (_, index): Hex => `0x${(0xb0 + index).toString(16).repeat(20)}`),
  tokens: [`0x${'70'.repeat(20)}`, `0x${'71'.repeat(20)}`] as readonly Hex[],
  nativeToken: `0x${'ee'.repeat(20)}` as Hex,
  integrations: [`0x${'a1'.repeat(20)}`, `0x${'a2'.repeat(20)}`] as readonly Hex[],
} as const

const yodlEvent = keccak256(stringToHex('Yodl(address,address,address,uint256,uint256,bytes32)'))
const transferEvent = keccak256(stringToHex('Transfer(address,address,uint256)'))
const padToWord = (address: Hex): Hex => `0x${address.slice(2).padStart(64, '0')}`

/** Memos that have broken indexers: empty, text, NUL, not UTF-8. */
const memos: readonly Hex[] = [
  `0x${'00'.repeat(32)}`,
  stringToHex('invoice 7', { size: 32 }),
  `0x00ff${'00'.repeat(30)}`,
  `0x${'c3'.repeat(32)}`,
  `0x${'ff'.repeat(32)}`,
]

/**
 * Draws a transaction: mostly one payment; sometimes several, none, a failed one, or a log that resembles a payment.
 */
export function drawTransaction(draws: Draws, nonce: number): FakeTransaction {
  const from = draws.pick(fixtures.wallets)
  const integration = draws.chance(0.8) ? draws.pick(fixtures.integrations) : null
  const succeeded = !draws.chance(0.05)
  const logs: FakeLog[] = []
  const payments: TruePayment[] = []
  let malformedCount = 0
  const parts = succeeded ? draws.pick([1, 1, 1, 1, 2, 3]) : 0
  for (let part = 0; part < parts; part += 1) {
    const kind = draws.fraction()
    if (kind < 0.1) {
      logs.push(buildMalformedLog(draws))
      malformedCount += 1
    } else if (kind < 0.2)
      logs.push(buildPaymentLog({ ...drawPayment(draws, logs.length), sender: from }, fixtures.unlistedRouter))
    else if (kind < 0.35) logs.push(buildTransferLog(draws))
    else {
      const payment = drawPayment(draws, logs.length)
      payments.push(payment)
      logs.push(buildPaymentLog(payment, payment.router.address))
    }
  }
  const to = draws.pick([...fixtures.routers.map(({ address }) => address), fixtures.unlistedRouter])
  const input: Hex = `0x1badf00d${draws.hex(32).slice(2)}${integration === null ? '' : buildDataSuffix(integration).slice(2)}`
  const value = 0n
  const type = draws.chance(0.3) ? 0 : 2
  const hash = draws.hex(32)
  return { hash, type, nonce, from, to, value, input, succeeded, logs, payments, integration, malformedCount }
}

function drawPayment(draws: Draws, logPosition: number): TruePayment {
  const gross = BigInt(draws.whole(1_000, 1_000_000_000))
  const fees = BigInt(draws.whole(1, 900))
  return {
    logPosition,
    router: draws.pick(fixtures.routers),
    sender: draws.pick(fixtures.wallets),
    receiver: draws.pick(fixtures.wallets),
    token: draws.pick([...fixtures.tokens, fixtures.nativeToken]),
    gross,
    net: gross - fees,
    memo: draws.pick(memos),
  }
}

function buildPaymentLog({ sender, receiver, token, gross, net, memo }: TruePayment, emitter: Hex): FakeLog {
  const data = encodeAbiParameters(parseAbiParameters('address, uint256, uint256, bytes32'), [
    token,
    gross,
    gross - net,
    memo,
  ])
  return { address: emitter, topics: [yodlEvent, padToWord(sender), padToWord(receiver)], data }
}

function buildTransferLog(draws: Draws): FakeLog {
  const topics = [transferEvent, padToWord(draws.pick(fixtures.wallets)), padToWord(draws.pick(fixtures.wallets))]
  return { address: draws.pick(fixtures.tokens), topics, data: toHex(draws.whole(1, 1_000_000), { size: 32 }) }
}

/** A log of a listed router with the topic of a payment and other data. */
function buildMalformedLog(draws: Draws): FakeLog {
  const { address } = draws.pick(fixtures.routers)
  const topics = [yodlEvent, padToWord(draws.pick(fixtures.wallets)), padToWord(draws.pick(fixtures.wallets))]
  const validData = buildPaymentLog(drawPayment(draws, 0), address).data
  return draws.pick<FakeLog>([
    { address, topics, data: '0x' },
    { address, topics, data: validData.slice(0, -2) as Hex },
    { address, topics: topics.slice(0, 2), data: validData },
    { address, topics: [yodlEvent, `0x${'ff'.repeat(32)}`, padToWord(draws.hex(20))], data: validData },
    // Fees above the amount.
    { address, topics, data: `0x${validData.slice(2, 66)}${'00'.repeat(32)}${'00'.repeat(31)}01${'00'.repeat(32)}` },
  ])
}

const marker = '8021'.repeat(8)

/** Codes, their length in one byte, the schema 0, the marker. */
export function buildDataSuffix(address: Hex): Hex {
  const codes = stringToHex(address.toLowerCase()).slice(2)
  return `0x${codes}${toHex(codes.length / 2, { size: 1 }).slice(2)}00${marker}`
}
