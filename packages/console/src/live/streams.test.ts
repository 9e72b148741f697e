/** One page's stream: its bound, and its end, no later than that of its session. */
import { expect, it, vi } from 'vitest'
import { origin, setUpAdmin } from '../../test/admin-setup.js'
import { createConsole } from '../create-console.js'
import { openEventStream, type Send } from './streams.js'

function open(lifeMs = 1_000_000) {
  let send: Send = () => undefined
  const [onClose, unfollow] = [vi.fn(), vi.fn()]
  const { stream } = openEventStream(
    (own) => {
      send = own
      return unfollow
    },
    { lifeMs, onClose },
  )
  return { reader: stream.getReader(), send: (text: string) => send(text), onClose, unfollow }
}

it('a page that reads nothing is dropped with all its events once more than 1 MB waits', async () => {
  const { reader, send, onClose, unfollow } = open()
  const event = 'x'.repeat(17_000)
  let sent = 0
  while (onClose.mock.calls.length === 0 && sent < 1_000) {
    send(event)
    sent += 1
  }
  expect(sent * event.length).toBeLessThan(1_000_000 + 2 * event.length)
  expect([onClose.mock.calls.length, unfollow.mock.calls.length]).toEqual([1, 1])
  await expect(reader.read()).rejects.toThrow('too slowly')
  send(event)
})

it('a page that reads gets more than 1 MB', async () => {
  const { reader, send, onClose } = open()
  const event = 'x'.repeat(100_000)
  await reader.read()
  for (let n = 0; n < 30; n += 1) {
    send(event)
    expect((await reader.read()).value?.byteLength).toBe(event.length)
  }
  expect(onClose).not.toHaveBeenCalled()
})

it('a stream ends after its life, and asks the browser to come back soon', async () => {
  const { reader, onClose } = open(1)
  let text = ''
  for (let part = await reader.read(); !part.done; part = await reader.read())
    text += new TextDecoder().decode(part.value)
  expect(text).toBe('retry: 2000\n\nretry: 100\n\n')
  expect(onClose).toHaveBeenCalledOnce()
})

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
