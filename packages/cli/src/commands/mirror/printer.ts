/** Prints the steps of a mirror. @module */
import type { MirrorEvent, MirrorStatus } from '@payment-integration/mirror'
import { grouped } from '../../format.js'
import type { Io } from '../../io.js'
import type { Reporter } from '../../output.js'
import { deliveryText, reconciledText, statusText } from './text.js'

/** Without a terminal, progress is a line at most this often. */
const progressEveryMs = 10_000

/** Prints events in their order. */
export interface MirrorPrinter {
  print(event: MirrorEvent): void
  failure(step: string, error: unknown): void
  /** Resolves when the last status is printed. */
  done(): Promise<void>
}

/** Creates a printer. After each finished run it prints the status that `readStatus` resolves. */
export function createPrinter(
  io: Pick<Io, 'live' | 'now'>,
  report: Reporter,
  json: boolean,
  readStatus: () => Promise<MirrorStatus>,
): MirrorPrinter {
  let shownAt = io.now()
  let pending = Promise.resolve()

  function failure(step: string, error: unknown): void {
    const { code, message } = Object(error) as { code?: unknown; message?: unknown }
    const event = {
      event: 'failed',
      step,
      code: typeof code === 'string' ? code : null,
      message: String(message ?? error),
    }
    report(event, ({ message: text }) => [`Failed to ${step}: ${text.slice(0, 500)}`])
  }

  function progress(pages: number, compared: number): void {
    const line = `Compared ${grouped(compared)} payments.`
    const isDue = json || io.now() - shownAt >= progressEveryMs
    if (io.live && !json) io.live([line])
    else if (isDue) {
      shownAt = io.now()
      report({ event: 'progress', pages, compared }, () => [line])
    }
  }

  async function printStatus(): Promise<void> {
    try {
      report({ event: 'status', ...(await readStatus()) }, statusText)
    } catch (error) {
      failure('read the status', error)
    }
  }

  return {
    failure,
    print(event) {
      const { type, ...facts } = event
      if (event.type === 'progress') {
        progress(event.pages, event.compared)
        return
      }
      io.live?.([])
      if (event.type === 'failed') failure(event.step, event.error)
      else if (event.type === 'delivery') report({ event: type, ...facts }, () => deliveryText(event))
      else if (event.type === 'completed')
        report({ event: type, ...facts }, () =>
          event.completed + event.left === 0
            ? []
            : [`Rows completed: ${grouped(event.completed)}, incomplete: ${grouped(event.left)}.`],
        )
      else {
        report({ event: type, ...facts }, () => reconciledText(event))
        pending = pending.then(printStatus)
      }
    },
    done: () => pending,
  }
}
