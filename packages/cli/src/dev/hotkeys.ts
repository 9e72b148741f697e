/** The keys of a demo run on a terminal. @module */
import { getMessage } from '../errors.js'
import type { Io } from '../io.js'
import type { Demo } from './demo.js'
import type { DemoSink } from './demo-events.js'
import { hotkeys } from './printer.js'
import type { Nudge } from './session.js'

/** The action of each key; it may resolve with a sentence. `c` and `d` are undefined without the user's receiver. */
export type HotkeyActions = Readonly<Record<(typeof hotkeys)[number]['key'], (() => unknown) | undefined>>

/** Runs the action of a key and reports the outcome. Never rejects. */
export async function onHotkey(key: string, actions: HotkeyActions, report: DemoSink): Promise<void> {
  const say = (text: string) => report({ event: 'hotkey', key, text })
  const hotkey = hotkeys.find((each) => each.key === key)
  if (hotkey === undefined) {
    // Enter, space and keys that send several characters get no answer.
    if (/^[!-~]$/.test(key)) say(`The key ${key} does nothing; ? lists the keys.`)
    return
  }
  const act = actions[hotkey.key]
  if (act === undefined) return say(`The key ${key} needs your own receiver: start the demo with --forward-to <url>.`)
  if (key === 'd') say('The doctor probes your receiver; this takes a moment.')
  try {
    const text = await act()
    if (typeof text === 'string') say(text)
  } catch (error) {
    say(getMessage(error))
  }
}

/** A call during a run shares the result of that run: two doctors would disturb each other. */
function onceAtATime(work: () => Promise<string>): () => Promise<string> {
  let running: Promise<string> | null = null
  return () => {
    running ??= work().finally(() => {
      running = null
    })
    return running
  }
}

const chaosOn = 'Chaos is on: deliveries to your receiver are repeated, late, lost, or answered too late.'

/** Connects the keys of the terminal to the demo. Returns a function that disconnects them. */
export function connectKeys(
  keys: NonNullable<Io['keys']>,
  run: { readonly demo: Demo; readonly nudge: Nudge; quit(): void },
  report: DemoSink,
): () => void {
  const { relay, doctor, ...demo } = run.demo
  const actions: HotkeyActions = {
    t: run.nudge.nudge,
    r: demo.replayLast,
    a: demo.retryNow,
    k: demo.commands,
    o: demo.openConsole,
    c: relay && (() => (relay.toggleChaos() ? chaosOn : 'Chaos is off.')),
    d: doctor && onceAtATime(doctor),
    '?': listHotkeys,
    q: run.quit,
  }
  return keys((key) => void onHotkey(key, actions, report))
}

export const listHotkeys = () =>
  hotkeys
    .map((hotkey) => `  ${hotkey.key}  ${hotkey.act}${'needsReceiver' in hotkey ? '; needs --forward-to' : ''}`)
    .join('\n')
