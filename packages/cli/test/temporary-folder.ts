import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** Creates a folder that is removed when the test passes, and kept for inspection when it fails. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'payment-integration-cli-test-'))
  onTestFinished(({ task }) => {
    if (task.result?.state === 'pass') rmSync(folder, { recursive: true, force: true })
  })
  return folder
}
