import { readBlocks, runCode } from '../../webhook/test/run-code.js'

/** Runs TypeScript block `at` of the document at `path`, seen from the root, and returns its standard output. */
export async function runReadme(path: string, env: Readonly<Record<string, string>>, at = 0): Promise<string> {
  const code = readBlocks(path, 'ts')[at]
  if (code === undefined) throw new Error(`${path} has no TypeScript block ${at}.`)
  return (await runCode({ code, cwd: new URL('..', import.meta.url), env })).stdout
}
