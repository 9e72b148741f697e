/** Processes that are killed with SIGKILL, at chosen moments and at any. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { postgresMissing, startPostgres, type TestPostgres } from '../../store-sql/test/postgres.js'
import { type BundledScript, bundleScript } from '../../store-sql/test/support/bundle-script.js'
import { openEngine } from './engines.js'
import { redisMissing, startRedis } from './redis-server.js'

let script: BundledScript
let server: TestPostgres | undefined
beforeAll(async () => {
  script = await bundleScript(join(import.meta.dirname, 'receiver-process.ts'))
  if (postgresMissing === null) server = await startPostgres()
})
afterAll(async () => {
  script?.remove()
  await server?.remove()
})

let databases = 0
/** Each with a fresh address, and why it cannot be tested here. */
const engines = [
  {
    name: 'sqlite',
    missing: null,
    async place() {
      const folder = mkdtempSync(join(tmpdir(), 'version-store-crash-'))
      onTestFinished(() => rmSync(folder, { recursive: true }))
      return join(folder, 'receiver.db')
    },
  },
  {
    name: 'postgres',
    missing: postgresMissing,
    async place() {
      const { connectionString = '' } = server ?? {}
      const admin = new pg.Client({ connectionString })
      await admin.connect()
      const name = `crash_${++databases}`
      await admin.query(`CREATE DATABASE ${name}`)
      await admin.end()
      return connectionString.replace('/postgres?', `/${name}?`)
    },
  },
  {
    name: 'redis',
    missing: redisMissing,
    async place() {
      const redis = await startRedis()
      onTestFinished(() => redis.remove())
      return redis.path
    },
  },
]

function start(...words: string[]) {
  const child = spawn(process.execPath, [script.path, ...words], { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  let output = ''
  child.stdout.on('data', (data: Buffer) => {
    output += data.toString()
  })
  /** Whole lines only: the last one may be cut off. */
  return { child, lines: () => output.split('\n').slice(0, -1) }
}

async function killed({ child }: ReturnType<typeof start>): Promise<void> {
  child.kill('SIGKILL')
  expect(await once(child, 'close')).toEqual([null, 'SIGKILL'])
}

async function killedWhenReady(name: string, address: string, mode: string): Promise<void> {
  const receiver = start(name, address, mode)
  await expect.poll(receiver.lines, { timeout: 300_000 }).toEqual(['ready'])
  await killed(receiver)
}

async function reopened(name: string, address: string) {
  const engine = await openEngine(name, address)
  // Before the database goes.
  onTestFinished(() => engine.close())
  return engine
}

describe.each(engines)('$name', ({ name, missing, place }) => {
  const runs = test.skipIf(missing !== null)
  const why = missing === null ? '' : ` (${missing})`

  runs(`a process killed between effect and commit leaves neither; the redelivery is handled${why}`, async () => {
    const address = await place()
    await killedWhenReady(name, address, 'hold-effect')
    const { deliver, notes, current } = await reopened(name, address)
    expect([await notes(), await current()]).toEqual([[], undefined])
    expect(await deliver(2)).toBe('apply')
    expect(await notes()).toEqual([2])
  })

  runs(`a process killed after the commit leaves both; the redelivery is a duplicate${why}`, async () => {
    const address = await place()
    await killedWhenReady(name, address, 'after-commit')
    const { deliver, notes } = await reopened(name, address)
    expect(await notes()).toEqual([2])
    expect(await deliver(2)).toBe('duplicate')
    expect(await notes()).toEqual([2])
  })

  runs(
    `three processes that race with the same versions keep each effect once at most, in rising order${why}`,
    async () => {
      const address = await place()
      const { notes, current } = await reopened(name, address)
      await notes()
      const outputs = await Promise.all(
        [1, 2, 3].map(async () => {
          const { child, lines } = start(name, address, 'race')
          expect(await once(child, 'close')).toEqual([0, null])
          return lines()
        }),
      )
      for (const lines of outputs) expect(lines).toHaveLength(30)
      const applied = outputs.flat().filter((line) => line.endsWith(' apply'))
      const kept = await notes()
      expect(kept).toEqual(applied.map((line) => Number.parseInt(line, 10)).sort((a, b) => a - b))
      expect(new Set(kept).size).toBe(kept.length)
      expect(await current()).toBe(30)
    },
  )

  const seed = Number(process.env['CRASH_SEED'] ?? Date.now() % 1_000_000)
  runs(
    `processes killed at any moment lose no version that they reported, and double none (CRASH_SEED=${seed})${why}`,
    async () => {
      const address = await place()
      let random = seed
      const nextMs = () => {
        random = (random * 48_271 + 11) % 2_147_483_647
        return random % 150
      }
      let next = 1
      const reported: number[] = []
      for (let round = 0; round < 6; round++) {
        // The version that was under way when the last process died comes again, as a redelivery.
        const receiver = start(name, address, 'stream', `${next}`)
        await expect.poll(() => receiver.lines().length, { timeout: 300_000 }).toBeGreaterThan(0)
        await new Promise((resolve) => setTimeout(resolve, nextMs()))
        await killed(receiver)
        for (const line of receiver.lines()) {
          const version = Number.parseInt(line, 10)
          reported.push(version)
          next = version + 1
        }
      }
      const { deliver, notes, current } = await reopened(name, address)
      await deliver(next)
      const kept = await notes()
      expect(kept).toEqual(Array.from({ length: next }, (_, index) => index + 1))
      expect(await current()).toBe(next)
      expect(reported.length).toBeGreaterThan(6)
    },
  )
})
