/** How many bytes an answer may have, by what was asked. @module */

/** Most bytes by method. Other answers, such as logs, receipts and full blocks, may be as large as any. */
const bytesByMethod: Readonly<Record<string, number>> = {
  eth_blockNumber: 65_536,
  eth_chainId: 65_536,
  eth_subscribe: 65_536,
  // The answer of a foreign contract, or the reason of its revert.
  eth_call: 65_536,
  // Twice the largest contract of any chain, as hex.
  eth_getCode: 1_048_576,
}
/** The hashes of 30,000 transactions. */
const headerBytes = 2_097_152
/** Limit for a refusal: a JSON-RPC error, or the body of an HTTP error status. */
export const refusalBytes = 65_536
/** The beginning of an answer that is an error: it may name its number first, but no result. */
const errorStart =
  /^\s{0,16}\{\s{0,16}(?:"(?:jsonrpc|id|result)"\s{0,16}:\s{0,16}(?:"[^"]{0,64}"|\d{1,16}|null)\s{0,16},\s{0,16}){0,3}"error"\s{0,16}:\s{0,16}[{"]/

/** The part of a call that its size depends on. */
interface Asked {
  readonly method: string
  readonly params: readonly unknown[]
}

/** Most bytes of the answer to `calls`: the sum over them, and never more than `most`. */
export function answerBytes(calls: readonly Asked[], most: number): number {
  let sum = 0
  for (const { method, params } of calls) {
    const isHeader = method === 'eth_getBlockByNumber' && params[1] === false
    sum += isHeader ? headerBytes : (bytesByMethod[method] ?? most)
    if (sum >= most) return most
  }
  return sum
}

/** Whether an answer is one JSON-RPC error of more bytes than a refusal may have, by its first bytes. */
export function isLargeError(answer: Buffer): boolean {
  return answer.length > refusalBytes && errorStart.test(answer.toString('latin1', 0, 512))
}
