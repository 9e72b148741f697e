/** Other processes: the scripts of `test/children`, run from source. @module */
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface, type Interface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { afterAll, beforeAll } from 'vitest'
import { bundleScript } from './bundle-script.js'

/** A running script. */
export interface Child {
  readonly process: ChildProcessByStdio<Writable, Readable, null>
  /** Its output, line by line. */
  readonly lines: Interface
  /** Resolves its exit code, or null when a signal ended it. */
  readonly ended: Promise<number | null>
}

/** Starts a script of `test/children`; its errors go to this process's. */
export function startChild(script: string, ...args: string[]): Child {
  return start(process.execPath, getFlags(script, args))
}

/**
 * The same for a process whose files cannot grow beyond some blocks of a shell's `ulimit -f`, 512 bytes or 1 kB each.
 */
export function startLimitedChild(blocks: number, script: string, ...args: string[]): Child {
  const limited = `ulimit -f ${blocks} && exec "$0" "$@"`
  return start('sh', ['-c', limited, process.execPath, ...getFlags(script, args)])
}

/** Compiles a script before the tests of a file that starts it many times, and not in each of its processes. */
export function compileChild(script: string): void {
  beforeAll(async () => {
    const { path, remove } = await bundleScript(getSource(script))
    compiled.set(script, path)
    return remove
  })
  afterAll(() => void compiled.delete(script))
}

const compiled = new Map<string, string>()
const getSource = (script: string) => join(import.meta.dirname, '..', 'children', `${script}.ts`)

function getFlags(script: string, args: readonly string[]): string[] {
  const path = compiled.get(script)
  if (path !== undefined) return [path, ...args]
  return ['--conditions=@payment-integration/source', '--import', 'tsx', getSource(script), ...args]
}

function start(command: string, args: readonly string[]): Child {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
  return { process: child, lines: createInterface(child.stdout), ended }
}

/** The next line that a script prints. */
export function nextLine({ lines, ended }: Child): Promise<string> {
  return new Promise((resolve, reject) => {
    // At the end of the output: the process may end before its last lines are read.
    const close = () => void ended.then((code) => reject(new Error(`The script ended with ${code} instead of a line.`)))
    lines.once('close', close)
    lines.once('line', (line) => {
      lines.off('close', close)
      resolve(line)
    })
  })
}
