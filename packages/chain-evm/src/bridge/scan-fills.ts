/** Reads the fills of one deposit from the SpokePool of its destination. @module */
import type { BridgeDeposit } from '@payment-integration/core/ports'
import { readLogs } from '../internal/answers.js'
import { type Endpoint, isRateLimit } from '../internal/endpoints.js'
import type { Failures } from '../internal/failures.js'
import { quantity } from '../internal/hex.js'
import { callOwnChain } from '../reading/own-chain.js'
import type { RouterLog } from '../router-decoder.js'
import { decodeFill, type Fill, fillTopics, fulfils } from './decode-fill.js'

/** A fill and its log. */
export interface FoundFill {
  readonly fill: Fill
  readonly log: RouterLog
}

/** The blocks and the deposit of a scan. */
export interface FillScan {
  readonly chainId: number
  readonly endpoint: Endpoint
  readonly fail: Failures
  /** Lowercased. */
  readonly spokePool: string
  readonly deposit: BridgeDeposit
  readonly from: number
  /** Included. */
  readonly to: number
  /** Told of the height up to which there is no fill. */
  readonly onRead: (height: number) => void
}

/** Most requests for logs in one scan, so that a long one keeps no others waiting. */
const MOST_SLICES = 64

/**
 * Finds the first fill of a deposit in a run of blocks. Otherwise it is null, and `onRead` heard how far there is none,
 * which may be short of the end. A fill of another deposit or origin, by another contract, or of less, does not count.
 * @throws ChainError `ERR_CHAIN_UNAVAILABLE`.
 */
export async function scanFills(scan: FillScan, signal?: AbortSignal): Promise<FoundFill | null> {
  const { deposit, spokePool, to, onRead } = scan
  for (let from = scan.from, slices = 0; from <= to && slices < MOST_SLICES; slices += 1) {
    const upTo = Math.min(to, from + scan.endpoint.maxRange() - 1)
    const logs = await readSlice(scan, from, upTo, signal)
    for (const log of logs.sort((a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex)) {
      const fill = log.address === spokePool ? decodeFill(log) : null
      if (fill !== null && log.blockNumber >= from && log.blockNumber <= upTo && fulfils(fill, deposit))
        return { fill, log }
    }
    onRead(upTo)
    from = upTo + 1
  }
  return null
}

async function readSlice(
  { chainId, endpoint, fail, spokePool, deposit }: FillScan,
  from: number,
  to: number,
  signal?: AbortSignal,
): Promise<RouterLog[]> {
  const topics = [fillTopics, word(BigInt(deposit.payment.chainId)), word(BigInt(deposit.depositId))]
  const filter = { fromBlock: quantity(from), toBlock: quantity(to), address: spokePool, topics }
  const blocks = to - from + 1
  try {
    const call = { method: 'eth_getLogs', params: [filter] }
    const logs = readLogs(await callOwnChain({ chainId, fail, endpoint }, call, signal), fail)
    endpoint.note({ kind: 'range-read', blocks })
    return logs
  } catch (error) {
    if (signal?.aborted !== true) endpoint.note({ kind: 'range-failed', blocks, rateLimited: isRateLimit(error) })
    throw error
  }
}

function word(value: bigint): string {
  return `0x${value.toString(16).padStart(64, '0')}`
}
