/** A stream lives no longer than the session behind it. */
import { expect, it } from 'vitest'
import { origin, setUpAdmin } from '../../test/admin-setup.js'
import { createConsole } from '../create-console.js'

const setup = setUpAdmin(31, async () => undefined, { streamMs: 1 })

it('the stream of a disabled operator ends, and a new one is answered 401', async () => {
  await setup.join('alice', 'admin')
  const { browser } = await setup.signIn('olga', 'admin')
  const [cookie = ''] = [...browser.cookies].map((pair) => pair.join('='))
  const headers = { Host: new URL(origin).host, Cookie: cookie }
  const open = () => setup.pages.fetch(new Request(`${origin}/console/live?topic=payments`, { headers }))
  const opened = await open()
  expect(opened.status).toBe(200)
  await setup.twin.service.operators.setEnabled('olga', false)
  // The text is whole once the stream ended.
  expect(await opened.text()).toContain('retry: ')
  expect((await open()).status).toBe(401)
})

it.each([0, 1.5, 3_600_001])('streams of %s ms are rejected', (streamMs) => {
  expect(() => createConsole({ service: setup.twin.service, streamMs })).toThrow(RangeError)
})
