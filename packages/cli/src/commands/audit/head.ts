/** `payment-integration audit head`. @module */
import type { ExitCode, Io } from '../../io.js'
import { momentText } from '../../output/moments.js'
import { type OperateOptions, withService } from '../with-service.js'

/**
 * Prints the newest record of the audit log: number, time and hash. Kept elsewhere, `audit verify --expect` finds it
 * again.
 */
export function auditHead(options: OperateOptions, io: Io): Promise<ExitCode> {
  return withService(options, io, async ({ audit }, report) => {
    const head = await audit.head()
    report({ event: 'audit.head', head }, () =>
      head === null ? ['The audit log is empty.'] : [`${head.seq}:${head.hash}  ${momentText(head.at)}`],
    )
  })
}
