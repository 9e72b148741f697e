/** The keys of a demo run on a terminal. @module */
import type { DemoSink } from './demo-events.js'

/** What the keys do. */
export interface HotkeyActions {
  /** Makes a payment now. */
  trigger(): Promise<unknown>
  /** Sends the last delivery again. */
  replayLast(): Promise<string>
  /** Attempts every delivery that waits for a retry. */
  retryNow(): Promise<string>
  /** Turns faults of the network on or off. Undefined without a receiver of the user. */
  readonly toggleChaos?: (() => string) | undefined
  quit(): void
}

/** One line that names the keys. */
export function hotkeyLine({ toggleChaos }: Pick<HotkeyActions, 'toggleChaos'>): string {
  const chaos = toggleChaos === undefined ? [] : ['c chaos on or off']
  return ['t payment now', 'r replay last', 'a retry all now', ...chaos, 'q quit'].join('   ')
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
      case 'c':
        if (actions.toggleChaos !== undefined) say(actions.toggleChaos())
        return
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
