import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TestDeliveryOptions } from '../../src/exports/testing.js'
import { delivery, secret } from './fixture.js'

const page = new URL('../../../../docs/guides/receive-in-a-framework.md', import.meta.url)
const [section = ''] = readFileSync(page, 'utf8').split('## Answers and options')
const [shared = '', ...blocks] = section.split('## ').map((part) => /```ts\n(.*?)```/s.exec(part)?.[1] ?? '')
const readme = readFileSync(new URL('../../../../README.md', import.meta.url), 'utf8')
const [, readmeBlock = ''] = /```ts\n(.*?)```/s.exec(readme) ?? []
const names = [...[...section.matchAll(/^## (.*)$/gm)].map(([, name]) => name ?? ''), 'the README of the workspace']

let folder: string
let child: ReturnType<typeof spawn>
const ports = new Map<string, number>()

/** All blocks in one process, those of the guide each behind the shared one, and each on a port of its own. */
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'frameworks-'))
  symlinkSync(fileURLToPath(new URL('../../../../node_modules', import.meta.url)), join(folder, 'node_modules'))
  const files = [...blocks.map((block) => `${shared}\n${block}`), readmeBlock].map((block, index) => {
    const file = join(folder, `block-${index}.mts`)
    writeFileSync(file, block)
    return file
  })
  const runner = fileURLToPath(new URL('readme-runner.ts', import.meta.url))
  const flags = ['--conditions=@payment-integration/source', '--import', import.meta.resolve('tsx')]
  child = spawn(process.execPath, [...flags, runner, ...files], {
    env: { ...process.env, WEBHOOK_SIGNING_SECRET: secret },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (child.stdout === null) throw new Error('The runner has no output.')
  for await (const line of createInterface(child.stdout)) {
    if (!line.startsWith('port ')) continue
    ports.set(names[ports.size] ?? '', Number(line.slice(5)))
    if (ports.size === names.length) break
  }
})

afterAll(() => {
  child?.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
})

test('the guide has a block for every adapter', () => {
  const exported = new URL('../../src/exports/', import.meta.url)
  const adapters = readdirSync(exported).filter(
    (file) => file !== 'index.ts' && readFileSync(new URL(file, exported), 'utf8').includes('/adapters/'),
  )
  const imported = new Set(
    [...section.matchAll(/'@payment-integration\/webhook(\/\w+)'/g)].map(([, entry]) => `${entry}.ts`.slice(1)),
  )
  expect([...imported].sort()).toEqual(adapters.sort())
})

test.each(names)('the block for %s takes what is signed and rejects what is not', async (name) => {
  const post = async (options: Partial<TestDeliveryOptions> = {}) =>
    (await fetch(`http://127.0.0.1:${ports.get(name)}/webhook`, { method: 'POST', ...(await delivery(options)) }))
      .status
  expect([await post(), await post({ fault: 'forged' }), await post({ ageSeconds: 400 }), await post()]).toEqual([
    204, 401, 400, 204,
  ])
})
