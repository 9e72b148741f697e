import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const folder = fileURLToPath(new URL('../../', import.meta.url))

/** The libraries that a process has loaded after a script. */
function loadedBy(script: string): string[] {
  const told = `const { createRequire } = await import('node:module')
    const paths = Object.keys(createRequire(${JSON.stringify(import.meta.url)}).cache).join()
    console.log(JSON.stringify(['undici', 'hono', 'pg', 'ws', 'prom-client', 'pino'].filter((name) => paths.includes('node_modules/' + name + '/'))))`
  const flags = ['--conditions=@payment-integration/source', '--import', 'tsx', '--input-type=module', '-e']
  const env = { ...process.env, NODE_OPTIONS: '' }
  const options = { cwd: folder, env, encoding: 'utf8' } as const
  return JSON.parse(execFileSync(process.execPath, [...flags, `${script}\n${told}`], options))
}

test('a service on SQLite without a listener loads no library for POSTs, requests, PostgreSQL, sockets or metrics', () => {
  const open = `const { openService, readConfig } = await import('@payment-integration/server/service')
    const { randomBytes } = await import('node:crypto')
    const { mkdtempSync, rmSync } = await import('node:fs')
    const { tmpdir } = await import('node:os')
    const folder = mkdtempSync(tmpdir() + '/service-')
    const database = 'sqlite:' + folder + '/payments.db'
    const rpc = { PI_RPC_URL_1: 'http://127.0.0.1:1' }
    const config = readConfig({ PI_MASTER_KEY: randomBytes(32).toString('hex'), PI_DATABASE_URL: database, PI_LOG_LEVEL: 'error', ...rpc })
    await (await openService(config)).close()
    rmSync(folder, { recursive: true })`
  expect(loadedBy(open)).toEqual(['pino'])
  expect(loadedBy(`${open}\nawait import('@payment-integration/server')`)).toEqual(['undici', 'pino'])
})
