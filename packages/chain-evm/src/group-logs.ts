/** Groups the listed routers' logs by transaction. @module */
import type { Emitted } from './conversion-pairs.js'
import type { RangeReader } from './range-reader.js'
import type { DecodedPayment, RouterLog } from './router-decoder.js'

/** A payment and its log. */
export interface LoggedEvent extends Emitted<DecodedPayment> {
  readonly log: RouterLog
}

/** The listed routers' events of one transaction, by log index. */
export interface TransactionLogs {
  readonly txHash: string
  readonly emitted: Emitted[]
  /** At least one. */
  readonly payments: LoggedEvent[]
}

/**
 * Decodes logs and groups them. Leaves out transactions without a payment of the requested routers.
 * Others come with all their payments, because ordinals count over all routers.
 * @param logs - Logs of listed routers, by block, transaction and log index.
 */
export function groupLogs(reader: RangeReader, logs: readonly RouterLog[]): TransactionLogs[] {
  const groups = new Map<string, TransactionLogs>()
  const { wanted } = reader
  for (const log of logs) {
    const version = reader.routers.get(log.address) ?? ''
    let group = groups.get(log.txHash)
    if (group === undefined) {
      group = { txHash: log.txHash, emitted: [], payments: [] }
      groups.set(log.txHash, group)
    }
    const event = reader.decoder.decode(log, version)
    if (event.kind === 'malformed') {
      reportMalformed(reader, log, version, event.reason)
      if (reader.decoder.conversionTopics.includes(log.topics[0] ?? ''))
        group.emitted.push({ router: log.address, event: { kind: 'conversion', steps: [], forgeable: true } })
      continue
    }
    group.emitted.push({ router: log.address, event })
    if (event.kind === 'payment') group.payments.push({ router: log.address, event, log })
  }
  return [...groups.values()].filter(
    ({ payments }) => payments.length > 0 && (wanted === null || payments.some(({ router }) => wanted.has(router))),
  )
}

/** Tells of a log that is left out, when its router is asked for. */
export function reportMalformed(reader: RangeReader, log: RouterLog, version: string, reason: string): void {
  const { txHash, blockNumber, logIndex, address } = log
  if (reader.wanted?.has(address) === false) return
  reader.onQuarantine({ chainId: reader.chainId, txHash, blockNumber, logIndex, router: { address, version }, reason })
}
