/** Runs the code of the README and of guides. */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const packageFolder = fileURLToPath(new URL('..', import.meta.url))

/** The TypeScript blocks of a document. @param path - From the root of the workspace. */
function getBlocks(path: string): string[] {
  const text = readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8')
  return [...text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code = '']) => code)
}

/** Runs a TypeScript block of a document as a program, and resolves its output. */
export async function runReadme(path: string, variables: Readonly<Record<string, string>>, at = 0): Promise<string> {
  const code = getBlocks(path)[at]
  if (code === undefined) throw new Error(`${path} has no TypeScript block ${at}.`)
  const flags = ['--conditions=@payment-integration/source', '--import', 'tsx', '--input-type=module', '--eval', code]
  const env = { ...process.env, ...variables }
  return (await promisify(execFile)(process.execPath, flags, { cwd: packageFolder, env })).stdout
}
