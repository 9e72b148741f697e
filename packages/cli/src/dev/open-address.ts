/** Opens an address in the browser of this machine. @module */
import { spawn } from 'node:child_process'
import { platform } from 'node:os'

/** The opener of a platform, with its arguments before the address. */
function openerOf(system: string): readonly [command: string, ...args: string[]] {
  if (system === 'darwin') return ['open']
  // `start` is part of the shell; its first quoted argument is the title of a window.
  if (system === 'win32') return ['cmd', '/c', 'start', '""']
  return ['xdg-open']
}

/**
 * Starts the platform's opener. Resolves a sentence with the address, so that it can be opened by hand in any case.
 * Never rejects.
 */
export function openAddress(
  url: string,
  env: Readonly<Record<string, string | undefined>>,
  system: string = platform(),
): Promise<string> {
  const [command, ...args] = openerOf(system)
  return new Promise((resolve) => {
    const opener = spawn(command, [...args, url], {
      env: { ...env },
      stdio: 'ignore',
      detached: true,
      windowsVerbatimArguments: true,
    })
    opener.once('error', () => resolve(`No ${command} on this machine. Open ${url}`))
    opener.once('spawn', () => {
      // The demo may end before the browser does.
      opener.unref()
      resolve(`Opening ${url}`)
    })
  })
}
