/** Compares verifying and rejecting with a floor and with other senders' verifiers. @module */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { bundle } from '../processes.js'
import { type Cell, median, round, type Table } from '../report.js'
import { type Kind, peersMissing } from './peers.js'

export interface VerificationEffort {
  /** Turns of each case. */
  readonly rounds: number
  /** CPU time of a turn, in microseconds; 0 for 200 calls. */
  readonly sliceUs: number
  readonly seed: number
}

interface Measured {
  readonly name: string
  readonly size: number
  readonly kind: Kind
  readonly costs: readonly number[]
}

const peersFolder = fileURLToPath(new URL('./peers/', import.meta.url))
const columns = [
  ['genuine', 512, '0.5 KB'],
  ['genuine', 65_536, '64 KB'],
  ['forged', 512, 'forged, 0.5 KB'],
  ['forged', 65_536, 'forged, 64 KB'],
] as const

export async function benchVerification({ rounds, sliceUs, seed }: VerificationEffort): Promise<Table[]> {
  const bundles = await bundle(['verification/measured.ts'])
  try {
    const args = [bundles.findPath('measured'), peersFolder, rounds, sliceUs, seed].map(String)
    const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 64_000_000 })
    return [buildTable(JSON.parse(stdout), seed)]
  } finally {
    await bundles.remove()
  }
}

function buildTable(cases: readonly Measured[], seed: number): Table {
  const find = (name: string, kind: Kind, size: number) =>
    cases.find((each) => each.name === name && each.kind === kind && each.size === size)?.costs ?? []
  const rows = [...new Set(cases.map(({ name }) => name))].map((name): Cell[] => [
    name,
    ...columns.flatMap(([kind, size]) => {
      const [costs, floor] = [find(name, kind, size), find('floor', kind, size)]
      const ratios = costs.map((cost, at) => cost / (floor[at] ?? Number.NaN))
      return kind === 'genuine' ? [round(median(costs), 2), round(median(ratios), 2)] : [round(median(costs), 2)]
    }),
  ])
  const missing = peersMissing(peersFolder)
  return {
    title: 'Verifying a delivery, CPU µs',
    columns: [
      '',
      ...columns.flatMap(([kind, , name]) => (kind === 'genuine' ? [name, `${name}, of the floor`] : [name])),
    ],
    rows,
    notes: [`Seed ${seed}.`, ...(missing === null ? [] : [missing])],
  }
}
