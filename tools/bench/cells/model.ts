/** Computes rate and cost of cells from processor time. Source: docs/scale.md. @module */

/**
 * Processor time that one payment costs a cell, in microseconds of the service and of PostgreSQL. `ownPayment`: a
 * payment of the cell, with two updates and three deliveries. `otherPayment`: a payment of another cell, which the feed
 * delivers too. `npm run bench -- cells` measures the times; docs/scale.md has the run.
 */
export const measuredCosts = {
  ownPayment: { service: 831, database: 560 },
  otherPayment: { service: 37, database: 7 },
  /** Bytes that the feed sends to each cell for a payment: JSON in base64. */
  feedBytes: 1_450,
} as const

/** List prices in USD an hour. docs/scale.md names the source and the date of each. */
export const listPrices = {
  /** A machine with two cores and 8 GiB. */
  machine: 0.0816,
  /** A PostgreSQL server with two cores and a standby. */
  database: 0.13,
} as const

/** Assumptions of the model about a deployment. */
export const assumptions = {
  /** Machines of a cell, each with one process that has every role. */
  machines: 2,
  /** Cores of a machine, and of a PostgreSQL server. */
  cores: 2,
  /** Servers of the feed and its publisher. */
  feedMachines: 4,
  /** Average rate of a cell, as a share of its maximum rate. */
  load: 0.3,
} as const

/** Processor time for a payment of any cell, in microseconds. */
function computeCpuMicros(cells: number, part: 'service' | 'database'): number {
  const { ownPayment, otherPayment } = measuredCosts
  return ownPayment[part] / cells + otherPayment[part] * (1 - 1 / cells)
}

function computePaymentsPerSecond(cells: number): number {
  const { machines, cores } = assumptions
  return Math.min(
    (machines * cores * 1e6) / computeCpuMicros(cells, 'service'),
    (cores * 1e6) / computeCpuMicros(cells, 'database'),
  )
}

/**
 * Computes the figures of `cells` equal cells, each of which stores its own payments alone.
 * @throws {RangeError} When `cells` is not a whole number from 1.
 */
export function modelCells(cells: number) {
  if (!Number.isSafeInteger(cells) || cells < 1) throw new RangeError(`cells is ${cells}; pass a whole number from 1.`)
  const { otherPayment, feedBytes } = measuredCosts
  const { machines, feedMachines, load } = assumptions
  const paymentsPerSecond = computePaymentsPerSecond(cells)
  const cpuOfOthers = (1 - 1 / cells) * (otherPayment.service + otherPayment.database)
  const publishers = cells === 1 ? 0 : feedMachines
  const usdPerHour = cells * (machines * listPrices.machine + listPrices.database) + publishers * listPrices.machine
  return {
    /** Maximum rate of all cells together, in payments a second. */
    paymentsPerSecond,
    speedup: paymentsPerSecond / computePaymentsPerSecond(1),
    /** Share of a cell's processor time that goes to payments of other cells. */
    shareOfOtherCells: cpuOfOthers / (computeCpuMicros(cells, 'service') + computeCpuMicros(cells, 'database')),
    /** Bytes that the feed sends to all cells in a second, at `paymentsPerSecond`. */
    feedBytesPerSecond: cells === 1 ? 0 : paymentsPerSecond * feedBytes * cells,
    /** USD for a million payments at the `load` of {@link assumptions}. */
    usdPerMillionPayments: (usdPerHour * 1e6) / (paymentsPerSecond * load * 3_600),
  }
}

/** Numbers of cells in the table of docs/scale.md. */
const cellCounts: readonly number[] = [1, 3, 16, 64]

/** The table of docs/scale.md. */
export function modelTable(): string {
  const whole = (value: number) => Math.round(value).toLocaleString('en')
  const rows = cellCounts.map((count) => {
    const { paymentsPerSecond, speedup, shareOfOtherCells, feedBytesPerSecond, usdPerMillionPayments } =
      modelCells(count)
    const feed = count === 1 ? 'no feed' : `${whole(feedBytesPerSecond / 1e6)} MB`
    const columns = [
      whole(paymentsPerSecond),
      speedup.toFixed(1),
      `${whole(shareOfOtherCells * 100)} %`,
      feed,
      usdPerMillionPayments.toFixed(2),
    ]
    return `| ${count} | ${columns.join(' | ')} |`
  })
  return [
    '| Cells | Payments/s | Times one cell | Time for payments of others | The feed sends a second | USD for a million payments |',
    `|${' ---: |'.repeat(6)}`,
    ...rows,
  ].join('\n')
}
