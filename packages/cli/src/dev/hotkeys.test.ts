import { expect, it } from 'vitest'
import { type HotkeyActions, listHotkeys, onHotkey } from './hotkeys.js'
import { hotkeys } from './printer.js'

function keys(changes: Partial<HotkeyActions> = {}) {
  const done: string[] = []
  const actions: HotkeyActions = {
    t: () => void done.push('pay'),
    r: async () => 'sent again',
    a: async () => {
      throw new Error('the database is busy')
    },
    k: () => 'curl',
    o: async () => 'opening',
    c: undefined,
    d: undefined,
    '?': listHotkeys,
    q: () => void done.push('quit'),
    ...changes,
  }
  return {
    actions,
    done,
    press: (key: string) => onHotkey(key, actions, (event) => 'text' in event && done.push(event.text)),
  }
}

it('each key does its action and reports the outcome', async () => {
  const { press, done } = keys({ c: () => 'chaos is on', d: async () => 'all passed' })
  for (const key of ['t', 'r', 'k', 'o', 'c', 'd', 'q']) await press(key)
  const doctor = ['The doctor probes your receiver; this takes a moment.', 'all passed']
  expect(done).toEqual(['pay', 'sent again', 'curl', 'opening', 'chaos is on', ...doctor, 'quit'])
})

it('? lists every key; one that does nothing says so, and one that sends several characters stays silent', async () => {
  const { press, done } = keys()
  for (const key of ['x', '\r', '\u001b[A', '?']) await press(key)
  expect(done[0]).toBe('The key x does nothing; ? lists the keys.')
  expect(done[1]?.split('\n').map((line) => line.trim()[0])).toEqual(hotkeys.map(({ key }) => key))
  expect(done).toHaveLength(2)
})

it('an action that fails is reported, and the run goes on', async () => {
  const { press, done } = keys()
  await press('a')
  expect(done).toEqual(['the database is busy'])
})

it('the keys of a receiver say that they need one', async () => {
  const { press, done } = keys()
  for (const key of ['c', 'd']) await press(key)
  expect(done).toEqual([expect.stringContaining('--forward-to'), expect.stringContaining('--forward-to')])
})
