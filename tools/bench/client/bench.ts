/** Measures the client's cost beyond fetch and JSON.parse, for a page of 200 payments. @module */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { createClient } from '@payment-integration/client'
import { createReader, pageLimit, pageSchema, paths } from '@payment-integration/contract'
import { type Effort, median, sideBySide, table } from '../measure.js'
import { integrationAddress, pageText } from './page.js'

/** Size of a run. */
export interface ClientEffort {
  /** Pages per way; the ways take turns, page by page. */
  readonly pages: number
  /** Pages read before, to warm up. */
  readonly warmUps: number
  /** How long to compare parsing alone. */
  readonly reading: Effort
}

/** Result of one way to read a page, in microseconds. */
interface Cost {
  /** Median of the time. */
  readonly wallUs: number
  /** 10th percentile of the time: the cost on an idle machine. */
  readonly quietUs: number
  /** Median of this process's processor time. */
  readonly cpuUs: number
}

/** Measures against a separate server process, on loopback. */
export async function benchClient({ pages, warmUps, reading }: ClientEffort): Promise<string> {
  const server = fork(fileURLToPath(new URL('./page-server.ts', import.meta.url)))
  try {
    const [port] = (await once(server, 'message')) as [number]
    const url = `http://127.0.0.1:${port}`
    const client = createClient({ baseUrl: url, integrationAddress, apiSecret: 'bench-only' })
    const address = `${url}${paths.payments}?limit=${pageLimit.max}`
    const ways = {
      'fetch and JSON.parse, the floor': async () => JSON.parse(await (await fetch(address)).text()),
      'client.payments.list': () => client.payments.list({ limit: pageLimit.max }),
    }
    const costs = await takeTurns(Object.values(ways), warmUps, pages)
    const lines = Object.keys(ways).map((name, way) => row(name, costs[way] as Cost))
    const [floor, ours] = costs as [Cost, Cost]
    const over = (figure: keyof Cost) => (ours[figure] - floor[figure]).toFixed(0)
    return [
      `### A page of ${pageLimit.max} payments, ${(pageText().length / 1_000).toFixed(0)} kB, over loopback`,
      '',
      '| | median µs | fastest tenth, µs | CPU, median µs |',
      '| --- | --- | --- | --- |',
      ...lines,
      '',
      `Overhead: ${over('wallUs')} µs in the median, ${over('quietUs')} µs in the fastest tenth, ${over('cpuUs')} µs of processor time.`,
      '',
      await readings(reading),
    ].join('\n')
  } finally {
    await stop(server)
  }
}

function row(name: string, { wallUs, quietUs, cpuUs }: Cost): string {
  return `| ${name} | ${wallUs.toFixed(0)} | ${quietUs.toFixed(0)} | ${cpuUs.toFixed(0)} |`
}

/** Alternates the ways page by page, so that a slow moment of the machine affects all. */
async function takeTurns(ways: readonly (() => Promise<unknown>)[], warmUps: number, pages: number): Promise<Cost[]> {
  const samples = ways.map(() => ({ wall: [] as number[], cpu: [] as number[] }))
  for (let turn = -warmUps; turn < pages; turn += 1)
    for (const [place, way] of ways.entries()) {
      const cpuBefore = process.cpuUsage()
      const before = performance.now()
      await way()
      const wall = (performance.now() - before) * 1_000
      const { user, system } = process.cpuUsage(cpuBefore)
      if (turn < 0) continue
      samples[place]?.wall.push(wall)
      samples[place]?.cpu.push(user + system)
    }
  return samples.map(({ wall, cpu }) => ({ wallUs: median(wall), quietUs: tenth(wall), cpuUs: median(cpu) }))
}

function tenth(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 10)] ?? Number.NaN
}

/** Parses the text only: JSON.parse, with our reader, and with zod's own parser. */
async function readings(effort: Effort): Promise<string> {
  const text = pageText()
  const reader = createReader(pageSchema)
  const rows = await sideBySide(
    [
      { name: 'JSON.parse, the floor', run: () => JSON.parse(text) },
      { name: 'JSON.parse and createReader(pageSchema)', run: () => reader.safeParse(JSON.parse(text)) },
      { name: 'JSON.parse and pageSchema.safeParse', run: () => pageSchema.safeParse(JSON.parse(text)) },
    ],
    effort,
  )
  return table(`Reading a page of ${pageLimit.max} payments`, rows)
}

async function stop(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null) return
  const exited = once(server, 'exit')
  server.disconnect()
  await exited
}
