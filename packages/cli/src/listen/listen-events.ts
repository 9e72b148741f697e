/** The events of `listen`, and their text. @module */
import { shortHash, span } from '../format.js'
import type { Style } from '../output.js'

/** One event; `--json` prints it unchanged. */
export type ListenEvent =
  | {
      readonly event: 'listening'
      readonly server: string
      readonly forwardTo: string
      readonly resumed: boolean
      readonly notifies: boolean
    }
  | {
      readonly event: 'delivery'
      readonly at: string
      readonly chainId: string
      readonly txHash: string
      readonly version: number
      readonly state: string | null
      /** Stored while this command was disconnected, or before it started. */
      readonly missed: boolean
      /** Null: no signing secret was given. */
      readonly signatureValid: boolean | null
      readonly status: number | null
      readonly ms: number
      readonly problem: string | null
    }
  | { readonly event: 'caught_up'; readonly missed: number; readonly resumed: boolean }
  | { readonly event: 'disconnected'; readonly reason: string; readonly retryInMs: number }
  | ({ readonly event: 'summary' } & ListenFigures)

/** The figures of a run. */
export interface ListenFigures {
  readonly forwarded: number
  readonly accepted: number
  readonly failed: number
  readonly reconnects: number
}

/** The lines of an event. */
export function listenText(event: ListenEvent, style: Style): readonly string[] {
  switch (event.event) {
    case 'listening':
      return [
        `${event.resumed ? 'Connected again to' : 'Listening to'} ${event.server}, forwarding to ${event.forwardTo}`,
        ...(event.notifies
          ? []
          : [
              style.yellow(
                'The integration has no notification URL, so no deliveries are made: its operator sets one.',
              ),
            ]),
      ]
    case 'delivery':
      return deliveryLines(event, style)
    case 'caught_up':
      if (event.missed === 0) return []
      return [
        `${event.resumed ? 'Missed' : 'Sent'} ${event.missed} ${event.resumed ? 'while disconnected' : 'from before'}.`,
      ]
    case 'disconnected':
      return [style.yellow(`Disconnected: ${event.reason}. Next attempt in ${span(event.retryInMs / 1_000)}.`)]
    case 'summary': {
      const { forwarded, accepted, failed, reconnects } = event
      return [`${forwarded} forwarded, ${accepted} accepted, ${failed} failed, ${reconnects} reconnects.`]
    }
  }
}

function deliveryLines(event: Extract<ListenEvent, { event: 'delivery' }>, style: Style): readonly string[] {
  const time = event.at.slice(11, 19)
  const state = event.state === null ? 'no state' : event.state.slice(0, 40)
  const name = `v${event.version} ${shortHash(event.txHash)} on ${event.chainId} ${state}`
  const answer = `${event.status ?? 'no answer'} ${event.ms} ms`
  const problem = event.problem === null ? '' : `: ${event.problem}`
  const line = event.problem === null ? style.green(answer) : style.red(`${answer}${problem}`)
  return [
    `${style.dim(time)} --> ${name}${event.missed ? ' (missed)' : ''}`,
    `${style.dim(time)} <-- ${line}`,
    ...(event.signatureValid === false
      ? [style.yellow('  The signature does not match this signing secret: the receiver must refuse it.')]
      : []),
  ]
}
