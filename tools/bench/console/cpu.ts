/**
 * Reads the processor time of this process and of a database server. Other work hardly changes it.
 * @module
 */
import { readdirSync, readFileSync } from 'node:fs'

/** Processor time of this process and of the server with the data in a folder, in ms; null: unknown here. */
export function cpuMs(postgresData: string | null): number | null {
  const { user, system } = process.cpuUsage()
  const own = (user + system) / 1_000
  if (postgresData === null) return own
  try {
    const [server = ''] = readFileSync(`${postgresData}/postmaster.pid`, 'utf8').split('\n')
    return childrenOf(server).reduce((sum, pid) => sum + onCpuMs(pid), own)
  } catch {
    return null
  }
}

function childrenOf(pid: string): string[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').trim().split(' '),
  )
}

/** The first number is nanoseconds on a processor. A process that ended counts no more. */
function onCpuMs(pid: string): number {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6
  } catch {
    return 0
  }
}
