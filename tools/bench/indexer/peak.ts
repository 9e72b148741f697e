/** Reads the peak memory of a measured process. @module */
import { readFileSync } from 'node:fs'

/**
 * The peak memory of this process in KiB. On Linux `maxRSS` is wrong: it begins with the peak of the parent process.
 */
export function peakKiB(): number {
  if (process.platform !== 'linux') return process.resourceUsage().maxRSS
  const [, peak] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
  if (peak === undefined) throw new Error('This system does not report the peak memory of a process.')
  return Number(peak)
}
