/**
 * Preloaded into each measured process. When the process exits, it writes its processor time and its peak of memory, as
 * JSON, to the file that `USAGE_FILE` names.
 *
 * @module
 */
import { writeFileSync } from 'node:fs'

process.once('exit', () => {
  const { user, system } = process.cpuUsage()
  const { maxRSS } = process.resourceUsage()
  writeFileSync(process.env.USAGE_FILE, JSON.stringify({ cpuMs: (user + system) / 1_000, peakMiB: maxRSS / 1_024 }))
})
