/** `payment-integration deliveries check`: finds missing deliveries, and queues them again. @module */
import type { CheckTotals } from '@payment-integration/core'
import { grouped } from '../../format.js'
import type { ExitCode, Io } from '../../io.js'
import { progressEveryMs } from '../../progress/show-progress.js'
import { type OperateOptions, withService } from '../../with-service.js'

/** Options of {@link checkDeliveries}. */
export interface CheckOptions extends OperateOptions {
  /** Make missing deliveries due again. @default false */
  readonly repair?: boolean | undefined
}

/**
 * Counts missing deliveries and, with `repair`, makes them due again. Progress is shown on a terminal.
 * @returns 0 when none is missing any more; 1 when some are, or when it was interrupted.
 */
export async function checkDeliveries({ repair = false, ...options }: CheckOptions, io: Io): Promise<ExitCode> {
  let isWhole = false
  await withService(options, io, async ({ deliveries }, report) => {
    const show = progressOf(io, options.json ?? false)
    const totals = await deliveries.check({ repair, signal: io.signal, onProgress: show })
    io.live?.([])
    const interrupted = io.signal.aborted
    isWhole = !interrupted && totals.missing === totals.requeued
    report({ event: 'check.done', ...totals, repair, interrupted }, checkText)
  })
  return isWhole ? 0 : 1
}

/** Shows progress: one line of a terminal, or without a terminal a new line every ten seconds. */
function progressOf(io: Io, json: boolean): (done: CheckTotals) => void {
  let printedAt = io.now()
  return ({ examined, missing }) => {
    if (json) return
    const line = `Checking: ${grouped(examined)} versions examined, ${grouped(missing)} deliveries missing`
    if (io.live !== undefined) return io.live([line])
    if (io.now() - printedAt < progressEveryMs.log) return
    printedAt = io.now()
    io.out(line)
  }
}

function checkText({ examined, missing, requeued, repair, interrupted }: CheckTotals & CheckResult): string[] {
  const found = `${grouped(examined)} versions examined, ${grouped(missing)} ${missing === 1 ? 'delivery is' : 'deliveries are'} missing`
  const lines = [repair && missing > 0 ? `${found}; ${grouped(requeued)} due again.` : `${found}.`]
  if (interrupted) lines.push('Interrupted: older versions were not examined.')
  if (!repair && missing > 0)
    lines.push('deliveries list --status missing prints them; deliveries check --repair makes them due again.')
  return lines
}

interface CheckResult {
  readonly repair: boolean
  readonly interrupted: boolean
}
