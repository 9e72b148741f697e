import { expect, it } from 'vitest'
import { type HotkeyActions, hotkeyLine, onHotkey } from './hotkeys.js'

function keys(changes: Partial<HotkeyActions> = {}) {
  const done: string[] = []
  const actions: HotkeyActions = {
    trigger: async () => done.push('trigger'),
    replayLast: async () => 'sent again',
    retryNow: async () => {
      throw new Error('the database is busy')
    },
    openConsole: async () => 'opening',
    quit: () => void done.push('quit'),
    ...changes,
  }
  return {
    actions,
    done,
    press: (key: string) => onHotkey(key, actions, (event) => 'text' in event && done.push(event.text)),
  }
}

it('each key does its action and reports the outcome; an unknown one does nothing', async () => {
  const { press, done, actions } = keys({ toggleChaos: () => 'chaos is on', doctor: async () => 'all passed' })
  for (const key of ['t', 'r', 'o', 'c', 'd', 'x', 'q', '\u0003', '?']) await press(key)
  const doctor = ['The doctor probes your receiver; this takes a moment.', 'all passed']
  expect(done).toEqual([
    'trigger',
    'sent again',
    'opening',
    'chaos is on',
    ...doctor,
    'quit',
    'quit',
    hotkeyLine(actions),
  ])
})

it('an action that fails is reported, and the run goes on', async () => {
  const { press, done } = keys()
  await press('a')
  expect(done).toEqual(['the database is busy'])
})

it('without a receiver of the user there is no chaos', async () => {
  const { press, done, actions } = keys()
  await press('c')
  expect(done).toEqual([])
  expect(hotkeyLine(actions)).not.toContain('chaos')
})
