/** Computes rate, WAL, connections, calls and money of cells. Source: docs/scale.md. @module */

/** A measured figure, and the name of its row in tools/bench/results. */
export interface Measure {
  readonly value: number
  readonly row: string
}

/** Measured figures of one process and one PostgreSQL server on two shared cores. */
export const measured = {
  /** Payments indexed a second, from a node. Those of other cells, read from a feed, cost less. */
  indexed: { value: 4_271, row: '0 ms, PostgreSQL' },
  /** Updates applied a second, 100 in a request. */
  updated: { value: 2_771, row: '100 in a request' },
  /** Deliveries a second, to a receiver that answers at once. */
  delivered: { value: 16_254, row: 'ours' },
  /** Bytes of WAL of a payment with two updates and three deliveries. */
  ownWal: { value: 7_117, row: 'WAL' },
  /** Bytes of WAL of a payment whose integration another cell has: no update and no delivery. */
  otherWal: { value: 1_562, row: 'one cell with none of them' },
  /** Bytes on disk of a payment with two updates and three deliveries. */
  ownDisk: { value: 2_817, row: 'on disk' },
  /** Bytes on disk of the three versions of a payment; one of another cell has one version. */
  versionsDisk: { value: 885, row: 'snapshots, and before deliveries' },
  /** Bytes on disk of a payment without versions, updates and deliveries. */
  otherDisk: { value: 820, row: 'payments, and now their statuses' },
  /** Calls of the Chain port for a new block: the publisher's, whatever the number of cells. */
  calls: { value: 3, row: '20 cells' },
} as const satisfies Readonly<Record<string, Measure>>

/** List prices in USD. docs/scale.md names the source and the date of each. */
export interface Prices {
  /** An hour of a machine with two cores and 8 GiB. */
  readonly machineHour: number
  /** An hour of a PostgreSQL server with two cores and a standby. */
  readonly databaseHour: number
  /** A GB of the database for a month. */
  readonly diskMonth: number
  /** A million JSON-RPC requests. */
  readonly millionRequests: number
}

/** The prices of docs/scale.md. */
export const listPrices: Prices = { machineHour: 0.0816, databaseHour: 0.13, diskMonth: 0.115, millionRequests: 8 }

/** What the model assumes of a deployment. */
export const assumed = {
  /** Machines of a cell, each with one process that has every role. */
  machines: 2,
  /** Connections of a process: `PI_DATABASE_POOL`, and one for LISTEN. */
  connections: 11,
  /** Servers of the feed and its publisher. */
  feedMachines: 4,
  /** Share of its greatest rate at which a cell runs on average. */
  load: 0.3,
  updates: 2,
  deliveries: 3,
  /** Blocks of all chains in an hour: one chain with a block every two seconds. */
  blocksHour: 1_800,
  /** JSON-RPC requests of a call of the Chain port, at most. */
  requests: 3,
} as const

/** Figures of a number of cells. */
export interface CellsModel {
  readonly cells: number
  /** Greatest rate of the chains' payments, a second. */
  readonly rate: number
  /** Bytes of WAL of each cell, a second at that rate. */
  readonly walSecond: number
  /** Bytes of WAL of all cells for each payment. */
  readonly walPayment: number
  readonly connections: number
  /** Calls to nodes for each block with the feed, and without it. */
  readonly calls: { readonly feed: number; readonly nodes: number }
  /** USD for a million payments at the assumed load, without the disk. */
  readonly money: number
  /** USD a month for the disk of a million payments. */
  readonly disk: number
  /** Share of a cell's time that goes to payments of other cells. */
  readonly othersShare: number
}

/** Calls of the Chain port for a new block of a cell that reads nodes: the head, then the block. */
const nodeCalls = 2

/**
 * Computes the figures of `cells` equal cells, each of which stores every payment.
 * @throws {RangeError} When `cells` is not a whole number from 1.
 */
export function modelCells(cells: number, prices: Prices = listPrices): CellsModel {
  if (!Number.isSafeInteger(cells) || cells < 1) throw new RangeError(`cells is ${cells}; pass a whole number from 1.`)
  const { indexed, updated, delivered, ownWal, otherWal, ownDisk, otherDisk, versionsDisk, calls } = measured
  const { machines, feedMachines, load, blocksHour, requests } = assumed
  const others = 1 - 1 / cells
  const otherSeconds = 1 / indexed.value
  const ownSeconds = otherSeconds + assumed.updates / updated.value + assumed.deliveries / delivered.value
  const seconds = ownSeconds / cells + others * otherSeconds
  const rate = 1 / seconds
  const wal = ownWal.value / cells + others * otherWal.value
  const disk = ownDisk.value + (cells - 1) * (otherDisk.value + versionsDisk.value / assumed.deliveries)
  const feed = cells === 1 ? 0 : feedMachines * prices.machineHour
  const perBlock = { feed: calls.value, nodes: cells * nodeCalls }
  const asked = cells === 1 ? perBlock.nodes : perBlock.feed
  const nodes = (asked * requests * blocksHour * prices.millionRequests) / 1e6
  const hour = cells * (machines * prices.machineHour + prices.databaseHour) + feed + nodes
  return {
    cells,
    rate,
    walSecond: wal * rate,
    walPayment: wal * cells,
    connections: machines * assumed.connections,
    calls: perBlock,
    money: (hour * 1e6) / (rate * load * 3_600),
    disk: (disk / 1_000) * prices.diskMonth,
    othersShare: (others * otherSeconds) / seconds,
  }
}

/** The sizes of docs/scale.md. */
const sizes: readonly number[] = [1, 4, 16, 64]

/** The table of docs/scale.md. */
export function modelTable(): string {
  const whole = (value: number) => Math.round(value).toLocaleString('en')
  const rows = sizes.map((size) => {
    const { rate, walSecond, walPayment, connections, calls, money, disk, othersShare } = modelCells(size)
    const columns = [
      ...[whole(rate), `${(walSecond / 1e6).toFixed(1)} MB`, whole(walPayment), whole(connections)],
      ...[size === 1 ? 'none' : `${calls.feed}`, `${calls.nodes}`, money.toFixed(2), disk.toFixed(2)],
      `${whole(othersShare * 100)} %`,
    ]
    return `| ${size} | ${columns.join(' | ')} |`
  })
  return [
    '| Cells | Payments/s | WAL/s of a cell | WAL of a payment in all cells, bytes | Connections of a cell | Calls for each block, feed | Calls, nodes | USD for a million payments | USD a month for their disk | Time for payments of others |',
    `|${' ---: |'.repeat(10)}`,
    ...rows,
  ].join('\n')
}
