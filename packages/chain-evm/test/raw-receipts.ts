/** Answers `debug_getRawReceipts` from the JSON receipts of a real node. @module */
import { Rlp } from 'ox'
import type { Hex } from 'viem'
import type { Intercept, Item } from './front.js'

interface JsonReceipt {
  readonly type?: Hex
  readonly status: Hex
  readonly root?: Hex
  readonly cumulativeGasUsed: Hex
  readonly logsBloom: Hex
  readonly logs: readonly { readonly address: Hex; readonly topics: readonly Hex[]; readonly data: Hex }[]
  readonly depositNonce?: Hex
  readonly depositReceiptVersion?: Hex
}

/** A quantity as RLP has it: without leading zeros, and nothing for zero. */
export function rlpNumber(quantity: Hex): Hex {
  const hex = BigInt(quantity) === 0n ? '' : BigInt(quantity).toString(16)
  return `0x${hex.length % 2 === 0 ? hex : `0${hex}`}`
}

/** Encodes a receipt. */
export function encodeReceipt(receipt: JsonReceipt): Hex {
  const { type = '0x0', status, root = rlpNumber(status), logs, depositNonce, depositReceiptVersion = '0x0' } = receipt
  const fields = logs.map(({ address, topics, data }) => [address, [...topics], data])
  const deposit = depositNonce === undefined ? [] : [rlpNumber(depositNonce), rlpNumber(depositReceiptVersion)]
  const encoded = Rlp.fromHex([root, rlpNumber(receipt.cumulativeGasUsed), receipt.logsBloom, fields, ...deposit])
  return Number(type) === 0 ? encoded : `0x${Number(type).toString(16).padStart(2, '0')}${encoded.slice(2)}`
}

/**
 * Answers `debug_getRawReceipts`.
 * @param change - Makes the answer from the true receipts; null answers an error.
 */
export function withRawReceipts(
  nodeUrl: string,
  change: (raw: Hex[]) => readonly string[] | null = (raw) => raw,
): Intercept {
  const getReceipts = async (height: unknown) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_getBlockReceipts', params: [height] })
    const answer = await fetch(nodeUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    return ((await answer.json()) as { result: JsonReceipt[] }).result
  }
  return async ({ calls, isBatch, forward }) => {
    const answers = [JSON.parse(await forward()) as Item | Item[]].flat()
    const all = await Promise.all(
      answers.map(async (item, index) => {
        const call = calls[index]
        if (call?.method !== 'debug_getRawReceipts') return item
        const raw = change((await getReceipts(call.params[0])).map(encodeReceipt))
        return raw === null ? item : { jsonrpc: '2.0', id: item.id, result: raw }
      }),
    )
    return JSON.stringify(isBatch ? all : all[0])
  }
}
