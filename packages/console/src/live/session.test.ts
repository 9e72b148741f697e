/** A stream lives no longer than the session behind it. */
import { createTwin, type Twin } from '@payment-integration/testing/twin'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { BrowserLike } from '../../test/browser-like.js'
import { createConsole } from '../create-console.js'

const publicUrl = 'https://pay.example'
const signIn = { publicUrl, findSource: () => '192.0.2.1' }
const passphrase = 'correct horse battery'
let twin: Twin
beforeAll(async () => {
  twin = await createTwin({ seed: 31 })
})
afterAll(() => twin?.close())

it('the stream of a disabled operator ends, and a new one is answered 401', async () => {
  const { operators, operatorSessions } = twin.service
  const pages = createConsole({ service: twin.service, now: twin.now, streamMs: 1, signIn })
  for (const name of ['alice', 'olga']) {
    const { linkToken } = await operators.create({ name, role: 'admin' })
    await operatorSessions.redeemLink({ linkToken, passphrase })
  }
  const browser = new BrowserLike(pages, publicUrl)
  await browser.post('/console/sign-in', { name: 'olga', passphrase })
  const [cookie] = [...browser.cookies].map(([name, value]) => `${name}=${value}`)
  const headers = { Host: new URL(publicUrl).host, Cookie: cookie ?? '' }
  const open = () => pages.fetch(new Request(`${publicUrl}/console/live?topic=payments`, { headers }))
  const opened = await open()
  expect(opened.status).toBe(200)
  await operators.setEnabled('olga', false)
  // The text is whole once the stream ended.
  expect(await opened.text()).toContain('retry: ')
  expect((await open()).status).toBe(401)
  pages.close()
})

it.each([0, 1.5, 3_600_001])('streams of %s ms are rejected', (streamMs) => {
  expect(() => createConsole({ service: twin.service, streamMs })).toThrow(RangeError)
})
