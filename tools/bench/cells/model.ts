/** Computes rate and cost of cells from processor time. Source: docs/scale.md. @module */

/**
 * Processor time that one payment costs a cell, in microseconds of the service and of PostgreSQL. `own`: a payment of
 * the cell, with two updates and three deliveries. `other`: a payment of another cell, which the feed delivers too.
 * `npm run bench -- cells` measures the times; docs/scale.md has the run.
 */
export const measured = {
  own: { service: 831, database: 560 },
  other: { service: 37, database: 7 },
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
export const assumed = {
  /** Machines of a cell, each with one process that has every role. */
  machines: 2,
  /** Cores of a machine, and of a PostgreSQL server. */
  cores: 2,
  /** Servers of the feed and its publisher. */
  feedMachines: 4,
  /** Average rate of a cell, as a share of its maximum rate. */
  load: 0.3,
} as const

/** Figures of a deployment with `cells` cells. */
export interface CellsModel {
  readonly cells: number
  /** Maximum rate of all cells together, in payments a second. */
  readonly rate: number
  /** `rate` as a multiple of the rate of a single cell. */
  readonly times: number
  /** Share of a cell's processor time that goes to payments of other cells. */
  readonly othersShare: number
  /** Bytes that the feed sends to all cells in a second, at `rate`. */
  readonly feedSecond: number
  /** USD for a million payments at the assumed load. */
  readonly money: number
}

/**
 * Computes the figures of `cells` equal cells, each of which stores its own payments alone.
 * @throws {RangeError} When `cells` is not a whole number from 1.
 */
export function modelCells(cells: number): CellsModel {
  if (!Number.isSafeInteger(cells) || cells < 1) throw new RangeError(`cells is ${cells}; pass a whole number from 1.`)
  const { own, other, feedBytes } = measured
  const { machines, cores, feedMachines, load } = assumed
  const others = 1 - 1 / cells
  const getTime = (part: 'service' | 'database') => own[part] / cells + other[part] * others
  const rate = Math.min((machines * cores * 1e6) / getTime('service'), (cores * 1e6) / getTime('database'))
  const feed = cells === 1 ? 0 : feedMachines
  const hour = cells * (machines * listPrices.machine + listPrices.database) + feed * listPrices.machine
  return {
    cells,
    rate,
    times: cells === 1 ? 1 : rate / modelCells(1).rate,
    othersShare: (others * (other.service + other.database)) / (getTime('service') + getTime('database')),
    feedSecond: cells === 1 ? 0 : rate * feedBytes * cells,
    money: (hour * 1e6) / (rate * load * 3_600),
  }
}

/** The sizes of docs/scale.md. */
const sizes: readonly number[] = [1, 3, 16, 64]

/** The table of docs/scale.md. */
export function modelTable(): string {
  const whole = (value: number) => Math.round(value).toLocaleString('en')
  const rows = sizes.map((size) => {
    const { rate, times, othersShare, feedSecond, money } = modelCells(size)
    const feed = size === 1 ? 'no feed' : `${whole(feedSecond / 1e6)} MB`
    const columns = [whole(rate), times.toFixed(1), `${whole(othersShare * 100)} %`, feed, money.toFixed(2)]
    return `| ${size} | ${columns.join(' | ')} |`
  })
  return [
    '| Cells | Payments/s | Times one cell | Time for payments of others | The feed sends a second | USD for a million payments |',
    `|${' ---: |'.repeat(6)}`,
    ...rows,
  ].join('\n')
}
