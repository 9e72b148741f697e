import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** A folder that goes when the test has passed, and stays to be looked at when it failed. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'payment-integration-cli-test-'))
  onTestFinished(({ task }) => {
    if (task.result?.state === 'pass') rmSync(folder, { recursive: true, force: true })
  })
  return folder
}
