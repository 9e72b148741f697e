/** Runs code of documents in processes of their own. @module */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { onTestFinished, vi } from 'vitest'
import { findFreePort } from './free-port.js'

const flags = ['--conditions=@payment-integration/source', '--import', 'tsx', '--input-type=module', '--eval']

/** Code, the folder of the package whose imports it resolves, and its variables. */
interface Program {
  readonly code: string
  readonly cwd: URL
  readonly env?: Readonly<Record<string, string>>
}

/** The blocks of a document in one language. @param path - From the root of the workspace. */
export function readBlocks(path: string, language: 'js' | 'ts'): string[] {
  const text = readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8')
  return [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].flatMap(([, name, code = '']) =>
    name === language ? [code] : [],
  )
}

/** Runs a program to its end. */
export function runCode({ code, cwd, env }: Program): Promise<{ stdout: string; stderr: string }> {
  return promisify(execFile)(process.execPath, [...flags, code], { cwd, env: { ...process.env, ...env } })
}

/** Starts a receiver that listens on `PORT`, and waits until it answers. The test ends it. */
export async function startReceiver({ code, cwd, env }: Program) {
  const port = `${await findFreePort()}`
  const all = { ...process.env, ...env, PORT: port }
  const child = spawn(process.execPath, [...flags, code], { cwd, env: all, stdio: ['ignore', 'ignore', 'pipe'] })
  let logged = ''
  child.stderr.on('data', (data: Buffer) => {
    logged += data.toString()
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const url = `http://127.0.0.1:${port}/`
  const answers = () =>
    fetch(url).then(
      () => true,
      () => false,
    )
  await vi.waitUntil(answers, { timeout: 300_000, interval: 50 })
  return {
    port,
    logged: () => logged,
    post: async (delivery: object) => (await fetch(url, { method: 'POST', ...delivery })).status,
    /** Posts a body without an end. Returns the status, and how many pieces of 64 KiB the receiver took. */
    async postEndless(): Promise<[status: number, pulled: number]> {
      let pulled = 0
      const body = new ReadableStream({
        pull(controller) {
          if (++pulled > 1000) controller.close()
          else controller.enqueue(new Uint8Array(65_536))
        },
      })
      return [(await fetch(url, { method: 'POST', body, duplex: 'half' } as RequestInit)).status, pulled]
    },
    async kill() {
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
}
