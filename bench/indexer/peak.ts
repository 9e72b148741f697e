/** How much memory a measured process took. @module */
import { readFileSync } from 'node:fs'

/**
 * The peak of this process's memory in KiB. On Linux `maxRSS` would not do: there a process begins with the peak of the
 * one that started it.
 */
export function peakKiB(): number {
  if (process.platform !== 'linux') return process.resourceUsage().maxRSS
  const [, peak] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
  if (peak === undefined) throw new Error('This system does not tell the peak of a process.')
  return Number(peak)
}
