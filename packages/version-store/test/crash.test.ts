import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { sqliteVersionStore } from '../src/exports/sqlite.js'
import { drivers, notesOf, openReceiverDatabase } from './drivers.js'

const payment = { integrationAddress: `0x${'a1'.repeat(20)}`, chainId: '1', txHash: `0x${'b2'.repeat(32)}` }
const script = fileURLToPath(new URL('receiver-process.ts', import.meta.url))

function start(path: string, mode: string) {
  const flags = ['--conditions=@payment-integration/source', '--import', 'tsx']
  const child = spawn(process.execPath, [...flags, script, path, mode], { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  return child
}

function databasePath(): string {
  const folder = mkdtempSync(join(tmpdir(), 'version-store-crash-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return join(folder, 'receiver.db')
}

function reopen(path: string) {
  const database = openReceiverDatabase(drivers[0].open, path)
  onTestFinished(() => database.close())
  return { database, store: sqliteVersionStore({ database }) }
}

async function killWhenReady(path: string, mode: string): Promise<void> {
  const child = start(path, mode)
  const [line] = (await once(child.stdout, 'data')) as [Buffer]
  expect(line.toString()).toBe('ready\n')
  child.kill('SIGKILL')
  const [code, signal] = await once(child, 'exit')
  expect([code, signal]).toEqual([null, 'SIGKILL'])
}

test('a process killed between effect and commit leaves neither; the redelivery is handled', async () => {
  const path = databasePath()
  await killWhenReady(path, 'hold-effect')
  const { database, store } = reopen(path)
  expect(notesOf(database)).toEqual([])
  expect(await store.current(payment)).toBeUndefined()
  expect(
    await store.advance({ ...payment, version: 2 }, (tx) => void tx.exec("INSERT INTO notes (note) VALUES ('2')")),
  ).toBe('apply')
  expect(notesOf(database)).toEqual(['2'])
})

test('a process killed after the commit leaves both; the redelivery is a duplicate', async () => {
  const path = databasePath()
  await killWhenReady(path, 'after-commit')
  const { database, store } = reopen(path)
  expect(notesOf(database)).toEqual(['2'])
  expect(await store.advance({ ...payment, version: 2 }, () => expect.unreachable())).toBe('duplicate')
})

test('three processes that race with the same versions keep each effect once at most, in rising order', async () => {
  const path = databasePath()
  reopen(path)
  const outputs = await Promise.all(
    [1, 2, 3].map(async () => {
      const child = start(path, 'race')
      let output = ''
      child.stdout.on('data', (data: Buffer) => {
        output += data.toString()
      })
      const [code] = await once(child, 'close')
      expect(code).toBe(0)
      return output.trim().split('\n')
    }),
  )
  for (const lines of outputs) expect(lines).toHaveLength(30)
  const applied = outputs
    .flat()
    .filter((line) => line.endsWith(' apply'))
    .map((line) => Number.parseInt(line, 10))
  const { database, store } = reopen(path)
  const kept = notesOf(database).map(Number)
  expect(kept).toEqual(applied.sort((a, b) => a - b))
  expect(new Set(kept).size).toBe(kept.length)
  expect(await store.current(payment)).toBe(30)
}, 60_000)
