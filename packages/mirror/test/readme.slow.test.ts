import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { expect, test } from 'vitest'
import { integrationAddress } from '../../client/test/fixtures.js'
import { paymentHash, startService } from '../../client/test/service.js'
import { createTestDatabase } from '../../store-sql/test/postgres.js'
import { mirrorDefaults } from '../src/options.js'
import { getDelivery, makeSnapshot, secret } from './copy.js'

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
const [code = ''] = [...readme.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, each = '']) => each)

test('the block of the README copies payments, receives a webhook, and prints its lag at SIGTERM', async () => {
  await using service = await startService()
  await service.index(0, 1)
  const { connectionString, remove } = await createTestDatabase()
  const pool = new pg.Pool({ connectionString })
  // The block prints no port, so this copy of it does.
  const printPort = "server.on('listening', () => console.error(server.address().port))"
  const printing = code.replace('const stop =', `${printPort}\nconst stop =`)
  const flags = ['--conditions=@payment-integration/source', '--import', 'tsx', '--input-type=module', '--eval']
  const env = {
    ...{ INTEGRATION_ADDRESS: integrationAddress, API_SECRET: service.apiSecret, PAYMENTS_URL: service.url },
    ...{ DATABASE_URL: connectionString, WEBHOOK_SIGNING_SECRET: secret, PORT: '0' },
  }
  const cwd = fileURLToPath(new URL('..', import.meta.url))
  const program = spawn(process.execPath, [...flags, printing], { cwd, env: { ...process.env, ...env } })
  const output: string[] = []
  const errors: string[] = []
  program.stdout.on('data', (chunk) => output.push(String(chunk)))
  program.stderr.on('data', (chunk) => errors.push(String(chunk)))
  const ended = once(program, 'close')
  const rows = async () => (await pool.query('SELECT version, body_version FROM mirror_payments')).rows
  try {
    const copied = async () => {
      if (program.exitCode !== null) throw new Error(errors.join(''))
      return rows().catch(() => [])
    }
    await expect.poll(copied, { timeout: 300_000 }).toHaveLength(2)
    await service.update(1, 'success')
    const delivery = await getDelivery(makeSnapshot(await service.client().payments.get(paymentHash(1))))
    const port = Number(errors.join('').trim())
    expect((await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', ...delivery })).status).toBe(204)
    await expect.poll(rows, { timeout: 300_000 }).toContainEqual({ version: '2', body_version: '2' })
    program.kill('SIGTERM')
    expect(await ended).toEqual([0, null])
    expect(JSON.parse(output.join(''))).toMatchObject({ copied: true, rows: 2, incomplete: 0, lagMs: 0 })
  } finally {
    program.kill('SIGKILL')
    await ended
    await pool.end()
    await remove()
  }
})

test('the README names the default options', () => {
  const { fullEveryMs, busyTimeoutMs, everyMs, prefix } = mirrorDefaults
  expect(readme).toContain(`| \`fullEveryMs\` | milliseconds between two runs to the end | ${fullEveryMs} |`)
  expect(readme).toContain(`| \`busyTimeoutMs\` | SQLite: milliseconds to wait for a lock | ${busyTimeoutMs} |`)
  expect(readme).toContain(`\`everyMs\` of \`run\` is ${everyMs} by default.`)
  expect(readme).toContain(`| search path, \`${prefix}\` |`)
})
