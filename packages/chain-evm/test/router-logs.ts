/** Encodes logs and calls of the router, from the ABIs of its versions. @module */
import type { AbiEvent, Address, Hex } from 'viem'
import { encodeAbiParameters, encodeEventTopics, encodeFunctionData, keccak256, pad, toHex } from 'viem'
import type { RouterLog } from '../src/decode/router-decoder.js'
import { getExample, routerEvents, routerFunctions } from './abis.js'

/** An event of a contract. */
export interface EmittedLog {
  readonly topics: readonly Hex[]
  readonly data: Hex
}

/** Encodes an event of a router version. */
export function eventLog(version: string, eventName: string, args: Readonly<Record<string, unknown>>): EmittedLog {
  return encodeEvent(
    routerEvents(version).find(({ name }) => name === eventName),
    args,
  )
}

/** Encodes an event; `string indexed` arguments are given as text. */
export function encodeEvent(event: AbiEvent | undefined, args: Readonly<Record<string, unknown>>): EmittedLog {
  if (event === undefined) throw new Error('There is no such event.')
  const inData = event.inputs.filter(({ indexed }) => indexed !== true)
  return {
    topics: encodeEventTopics({ abi: [event], eventName: event.name, args }) as Hex[],
    data: encodeAbiParameters(
      inData,
      inData.map(({ name = '' }) => args[name]),
    ),
  }
}

/** A log as a node answers it. */
export function nodeLog({ topics, data }: EmittedLog): RouterLog {
  const place = { blockNumber: 1, blockHash: '0x', txHash: '0x', txIndex: null, logIndex: 0, blockTimestamp: null }
  return { address: `0x${'f0'.repeat(20)}`, topics, data, ...place }
}

/** The event of a token's transfer, or of an approval, which has the same arguments. */
export function transferLog(from: Address, to: Address, amount: bigint, name = 'Transfer'): EmittedLog {
  const [sender, receiver] = [pad(from, { size: 32 }), pad(to, { size: 32 })]
  const topics = [keccak256(toHex(`${name}(address,address,uint256)`)), sender, receiver]
  return { topics, data: pad(toHex(amount), { size: 32 }) }
}

export const zeroAddress: Address = `0x${'00'.repeat(20)}`

/** Addresses that end in these bytes. */
export function makeAddresses<const Bytes extends readonly string[]>(...bytes: Bytes) {
  return bytes.map((byte): Address => `0x${byte.padStart(40, '0')}`) as { readonly [At in keyof Bytes]: Address }
}

/** Price feed arguments of versions 0.6 and later. */
export const noFeed = {
  ...{ feedAddress: zeroAddress, feedType: 0, currency: '', amount: 0n, deadline: 0n, signature: '0x' },
}
export const chainFeed = (feedAddress: Address) => ({ ...noFeed, feedAddress, feedType: 1 })
const signed = { feedType: 2, deadline: 9n, signature: `0x${'5a'.repeat(65)}` }
export const signedRate = (currency: string, amount: bigint) => ({ ...noFeed, ...signed, currency, amount })

/** Arguments by their names, with and without the underscore that some versions put first. */
export const underscored = (given: Readonly<Record<string, unknown>>): Record<string, unknown> => ({
  ...given,
  ...Object.fromEntries(Object.entries(given).map(([name, value]) => [`_${name}`, value])),
})

/** Encodes a paying call; other arguments are empty. */
export function payingCall(version: string, functionName: string, given: Readonly<Record<string, unknown>>): Hex {
  const [item] = routerFunctions(version).filter(({ name }) => name === functionName)
  if (item === undefined) throw new Error(`version ${version} has no function ${functionName}`)
  const empty = { yAppList: [], guards: [], webhooks: [], path: '0x', message: '0x', ...underscored(given) }
  return encodeFunctionData({ abi: [item], args: item.inputs.map((input) => getExample(input, empty, getEmpty)) })
}

function getEmpty(type: string): unknown {
  if (type === 'address') return zeroAddress
  if (type === 'bool') return false
  if (type === 'string') return ''
  if (type === 'bytes') return '0x'
  if (type === 'bytes32') return `0x${'00'.repeat(32)}`
  return /^u?int(8|16|24|32)$/.test(type) ? 0 : 0n
}

export const makeCodeHash = (code: string): Hex => keccak256(toHex(code))
