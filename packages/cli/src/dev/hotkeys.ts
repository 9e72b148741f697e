/** The keys of a demo run on a terminal. @module */
import type { Io } from '../io.js'
import type { Demo } from './demo.js'
import type { DemoSink } from './demo-events.js'
import type { Nudge } from './session.js'

export interface HotkeyActions {
  trigger(): Promise<unknown>
  replayLast(): Promise<string>
  retryNow(): Promise<string>
  readonly doctor?: (() => Promise<string>) | undefined
  readonly toggleChaos?: (() => string) | undefined
  openConsole(): Promise<string>
  quit(): void
}

export function hotkeyLine({ toggleChaos, doctor }: Pick<HotkeyActions, 'toggleChaos' | 'doctor'>): string {
  const chaos = toggleChaos === undefined ? [] : ['c chaos on or off']
  const probes = doctor === undefined ? [] : ['d doctor']
  return ['t payment now', 'r replay last', 'a retry all now', 'o console', ...chaos, ...probes, 'q quit'].join('   ')
}

/** Acts on a key and reports the outcome. An unknown key is ignored. Never rejects. */
export async function onHotkey(key: string, actions: HotkeyActions, report: DemoSink): Promise<void> {
  const say = (text: string) => report({ event: 'hotkey', key, text })
  try {
    switch (key) {
      case 't':
        await actions.trigger()
        return
      case 'r':
        return say(await actions.replayLast())
      case 'a':
        return say(await actions.retryNow())
      case 'o':
        return say(await actions.openConsole())
      case 'c':
        if (actions.toggleChaos !== undefined) say(actions.toggleChaos())
        return
      case 'd':
        if (actions.doctor === undefined) return
        say('The doctor probes your receiver; this takes a moment.')
        return say(await actions.doctor())
      case 'q':
      case '\u0003':
        return actions.quit()
      case '?':
        return say(hotkeyLine(actions))
    }
  } catch (error) {
    say(error instanceof Error ? error.message : String(error))
  }
}

/** Joins calls during a run: two doctors would disturb each other. */
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

/** Reads the keys of a run and names them. Returns a function that stops. */
export function connectKeys(
  keys: NonNullable<Io['keys']>,
  run: { readonly demo: Demo; readonly nudge: Nudge; quit(): void },
  report: DemoSink,
): () => void {
  const { demo, nudge, quit } = run
  const { relay, doctor, replayLast, retryNow, openConsole } = demo
  const actions: HotkeyActions = {
    trigger: async () => nudge.nudge(),
    replayLast,
    retryNow,
    openConsole,
    doctor: doctor && onceAtATime(doctor),
    toggleChaos: relay && (() => (relay.toggleChaos() ? chaosOn : 'Chaos is off.')),
    quit,
  }
  report({ event: 'hotkey', key: '?', text: hotkeyLine(actions) })
  return keys((key) => void onHotkey(key, actions, report))
}
