/** The console inside the reference server. */
import { request } from 'node:http'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { tempConfig } from '../../test/support/temp-config.js'
import { type RunningServer, startServer } from '../run/start-server.js'

let server: RunningServer
let remove: () => Promise<void>
beforeAll(async () => {
  const made = await tempConfig({ PI_CONSOLE: 'on' })
  remove = made.remove
  server = await startServer(made.config)
})
afterAll(async () => {
  await server?.stop()
  await remove?.()
})

/** The status of a request with a Host header of its own. */
function getStatus(path: string, headers: Record<string, string>, method = 'GET'): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = request(`${server.url}${path}`, { method, headers }, (answer) => {
      answer.resume()
      resolve(answer.statusCode)
    })
    sent.on('error', reject)
    sent.end()
  })
}

it('serves its pages, with the masked settings of this server', async () => {
  const answer = await fetch(`${server.url}/console/settings`)
  expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store'])
  expect(await answer.text()).toContain('<dt>PI_MASTER_KEY</dt><dd><span class="given">set</span>')
})

it('rejects another Host, and a POST of another origin', async () => {
  expect(await getStatus('/console', { host: 'evil.example' })).toBe(403)
  expect(await getStatus('/console', { origin: 'http://evil.example' }, 'POST')).toBe(403)
  expect(await getStatus('/console', { host: new URL(server.url).host })).toBe(200)
})

it('ends the streams of open pages at the shutdown', async () => {
  const made = await tempConfig({ PI_CONSOLE: 'on' })
  const own = await startServer(made.config)
  const answer = await fetch(`${own.url}/console/live?topic=overview`)
  const reader = answer.body?.getReader()
  await reader?.read()
  await own.stop()
  let end = await reader?.read()
  while (end?.done === false) end = await reader?.read()
  expect(end?.done).toBe(true)
  await made.remove()
})
