/**
 * Builds the application with Next, starts it, and posts deliveries to both routers. Needs the built packages (`npm run
 * build` at the root).
 */
import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createBuilders, createDeliveries } from '@payment-integration/testing'

const folder = mkdtempSync(join(tmpdir(), 'next-check-'))
const secret = 'whsec_of_the_check'
const env = {
  ...process.env,
  NEXT_TELEMETRY_DISABLED: '1',
  WEBHOOK_SIGNING_SECRET: secret,
  DATABASE: join(folder, 'shop.db'),
}
const next = new URL('../../node_modules/next/dist/bin/next', import.meta.url).pathname
const port = await findFreePort()
execFileSync(process.execPath, [next, 'build'], {
  env: { ...env, NODE_ENV: 'production' },
  stdio: ['ignore', 'ignore', 'inherit'],
})
let log = ''
const server = spawn(process.execPath, [next, 'start', '--hostname', '127.0.0.1', '--port', String(port)], {
  env: { ...env, NODE_ENV: 'production' },
  stdio: ['ignore', 'pipe', 'pipe'],
})
server.stdout.on('data', (text) => (log += text))
server.stderr.on('data', (text) => (log += text))
const url = `http://127.0.0.1:${port}`
const problems = []
try {
  await waitUntilListening()
  const deliveries = createDeliveries({ secret })
  const build = createBuilders({ seed: 2 })
  const post = async (path, delivery) => (await fetch(`${url}${path}`, { method: 'POST', ...delivery })).status
  const expectStatus = (name, status, expected) => {
    if (status !== expected) problems.push(`${name} answered ${status}, expected ${expected}`)
  }
  for (const path of ['/webhook', '/api/webhook']) {
    const snapshot = build.snapshot({ version: 1 })
    const good = await deliveries.good(snapshot)
    expectStatus(`${path}, good`, await post(path, good), 204)
    expectStatus(`${path}, repeated`, await post(path, await deliveries.duplicate(good)), 204)
    expectStatus(`${path}, forged`, await post(path, await deliveries.forged(snapshot)), 401)
    expectStatus(`${path}, tampered`, await post(path, await deliveries.tampered(snapshot)), 401)
    expectStatus(`${path}, stale`, await post(path, await deliveries.stale(snapshot)), 400)
    expectStatus(`${path}, read`, (await fetch(`${url}${path}`)).status, 405)
  }
  expectStatus('/api/parsed', await post('/api/parsed', await deliveries.good(build.snapshot())), 500)
  if (!log.includes('bodyParser: false')) problems.push('the log does not say how to switch the parser off')
} catch (error) {
  problems.push(`${error.stack}\n${log}`)
} finally {
  server.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
}
for (const problem of problems) console.error(`  ${problem}`)
console.log(`next: ${problems.length === 0 ? 'both routers verify' : `${problems.length} problems`}`)
process.exitCode = problems.length === 0 ? 0 : 1

async function waitUntilListening() {
  const end = Date.now() + 30_000
  while (Date.now() < end) {
    if (server.exitCode !== null) throw new Error('next start ended')
    const isUp = await fetch(url).then(
      () => true,
      () => false,
    )
    if (isUp) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error('next start did not listen within 30 s')
}

function findFreePort() {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address()
      probe.close(() => resolve(port))
    })
  })
}
