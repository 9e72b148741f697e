/** The console inside the reference server. */
import { request } from 'node:http'
import { expect, it } from 'vitest'
import { startTempServer } from '../../test/support/temp-server.js'

/** The status of a request with a Host header of its own. */
function getStatus(url: string, headers: Record<string, string>, method = 'GET'): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers }, (answer) => resolve(answer.resume().statusCode))
    sent.on('error', reject).end()
  })
}

it('serves its pages, with the masked settings of this server, and rejects another Host and a POST of another origin', async () => {
  const { url } = await startTempServer({ PI_CONSOLE: 'on' })
  const answer = await fetch(`${url}/console/settings`)
  expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store'])
  expect(await answer.text()).toContain('<dt>PI_MASTER_KEY</dt><dd><span class="given">set</span>')
  expect(await getStatus(`${url}/console`, { host: 'evil.example' })).toBe(403)
  expect(await getStatus(`${url}/console`, { origin: 'http://evil.example' }, 'POST')).toBe(403)
  expect(await getStatus(`${url}/console`, { host: new URL(url).host })).toBe(200)
})

it('ends the streams of open pages at the shutdown', async () => {
  const { url, stop } = await startTempServer({ PI_CONSOLE: 'on' })
  const reader = (await fetch(`${url}/console/live?topic=overview`)).body?.getReader()
  await reader?.read()
  await stop()
  let end = await reader?.read()
  while (end?.done === false) end = await reader?.read()
  expect(end?.done).toBe(true)
})
