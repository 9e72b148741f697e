/** Loaded into a measured process: at its end it writes what it used, as JSON, to the file of `USAGE_FILE`. @module */
import { writeFileSync } from 'node:fs'

process.once('exit', () => {
  const { user, system } = process.cpuUsage()
  const { maxRSS } = process.resourceUsage()
  writeFileSync(process.env.USAGE_FILE, JSON.stringify({ cpuMs: (user + system) / 1_000, peakMiB: maxRSS / 1_024 }))
})
