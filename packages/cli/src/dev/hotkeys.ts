/** The keys of a demo run on a terminal. @module */
import { getMessage } from '../errors.js'
import type { Io } from '../io.js'
import type { Demo } from './demo.js'
import type { DemoSink } from './demo-events.js'
import { hotkeys } from './printer.js'
import type { Nudge } from './session.js'

export interface HotkeyActions extends Pick<Demo, 'replayLast' | 'retryNow' | 'commands' | 'openConsole'> {
  trigger(): Promise<unknown>
  /** Undefined without the user's own receiver, as is `toggleChaos`. */
  readonly doctor?: (() => Promise<string>) | undefined
  readonly toggleChaos?: (() => string) | undefined
  quit(): void
}

const helpText = hotkeys
  .map((hotkey) => `  ${hotkey.key}  ${hotkey.act}${'needsReceiver' in hotkey ? '; needs --forward-to' : ''}`)
  .join('\n')

/** Runs the action of a key and reports the outcome. Never rejects. */
export async function onHotkey(key: string, actions: HotkeyActions, report: DemoSink): Promise<void> {
  const say = (text: string) => report({ event: 'hotkey', key, text })
  const needsReceiver = `The key ${key} needs your own receiver: start the demo with --forward-to <url>.`
  try {
    switch (key) {
      case 't':
        await actions.trigger()
        return
      case 'r':
        return say(await actions.replayLast())
      case 'a':
        return say(await actions.retryNow())
      case 'k':
        return say(actions.commands())
      case 'o':
        return say(await actions.openConsole())
      case 'c':
        return say(actions.toggleChaos === undefined ? needsReceiver : actions.toggleChaos())
      case 'd':
        if (actions.doctor === undefined) return say(needsReceiver)
        say('The doctor probes your receiver; this takes a moment.')
        return say(await actions.doctor())
      case 'q':
        return actions.quit()
      case '?':
        return say(helpText)
      default:
        // Enter, space and keys that send several characters get no answer.
        if (/^[!-~]$/.test(key)) say(`The key ${key} does nothing; ? lists the keys.`)
    }
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
  const { demo, nudge, quit } = run
  const { relay, doctor } = demo
  const actions: HotkeyActions = {
    ...demo,
    trigger: async () => nudge.nudge(),
    doctor: doctor && onceAtATime(doctor),
    toggleChaos: relay && (() => (relay.toggleChaos() ? chaosOn : 'Chaos is off.')),
    quit,
  }
  return keys((key) => void onHotkey(key, actions, report))
}
