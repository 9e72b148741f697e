/** Formats deliveries, their attempts, and failing endpoints. @module */
import { answerText } from '@payment-integration/core'
import type { AttemptRecord, DeliveryView, EndpointView } from '@payment-integration/core/ports'
import { exactMomentText, grouped, momentText, shortHash, table } from '../../format.js'

/** Columns of a list, with fixed widths because the list is printed page by page. */
const columns = [
  ['id', 8],
  ['created', 20],
  ['status', 10],
  ['chain', 6],
  ['transaction', 14],
  ['version', 7],
  ['attempts', 8],
  ['last answer', 17],
  ['next attempt', 20],
  ['integration', 14],
] as const

/** The line above a list. */
export const deliveryHeads = row(columns.map(([head]) => head))

/** One line about a delivery. */
export function deliveryLine(delivery: DeliveryView): string {
  const { deliveryId, createdAt, status, chainId, txHash, version, attempts, nextAttemptAt } = delivery
  return row([
    ...[deliveryId, momentText(createdAt), status, String(chainId), shortHash(txHash), `v${version}`],
    ...[
      String(attempts.length),
      lastAnswer(delivery),
      momentText(nextAttemptAt),
      shortHash(delivery.integrationAddress),
    ],
  ])
}

/** All details of a delivery, with its attempts. */
export function deliveryText(delivery: DeliveryView): string[] {
  const { deliveryId, status, integrationAddress, chainId, txHash, version, createdAt, nextAttemptAt, attempts } =
    delivery
  return [
    `Delivery ${deliveryId}: ${status}`,
    `  Integration   ${integrationAddress}`,
    `  Payment       chain ${chainId}, ${txHash}, version ${version}`,
    `  Created       ${momentText(createdAt)}`,
    `  Next attempt  ${momentText(nextAttemptAt)}`,
    `  Attempts      ${grouped(attempts.length)}`,
    ...attempts.flatMap((attempt, index) => attemptText(attempt, index + 1)),
  ]
}

/** A table of failing endpoints. */
export function endpointsText(endpoints: readonly EndpointView[]): string[] {
  const rows = endpoints.map(({ integrationAddress, failures, failingSince, blockedUntil }) => [
    ...[integrationAddress, grouped(failures), momentText(failingSince), momentText(blockedUntil)],
  ])
  return table([['integration', 'failures', 'failing since', 'blocked until'], ...rows])
}

function attemptText(
  { startedAt, latencyMs, status, reason, excerpt, replay }: AttemptRecord,
  number: number,
): string[] {
  const answer = answerText({ status, reason })
  const parts = [
    ...[String(number).padStart(4), exactMomentText(startedAt), answer, `${grouped(latencyMs)} ms`],
    ...(replay ? ['replay'] : []),
  ]
  // The receiver wrote the excerpt: control characters must not move the cursor.
  const lines = excerpt === null ? [] : excerpt.split('\n').map((line) => `      | ${line}`.trimEnd())
  return [parts.join('  '), ...lines]
}

function lastAnswer({ attempts }: DeliveryView): string {
  const last = attempts.at(-1)
  return last === undefined ? '-' : answerText(last)
}

function row(cells: readonly string[]): string {
  return cells
    .map((cell, index) => cell.padEnd(columns[index]?.[1] ?? 0))
    .join('  ')
    .trimEnd()
}
