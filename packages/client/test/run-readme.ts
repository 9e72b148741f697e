/** Runs the code of the README. */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const packageFolder = fileURLToPath(new URL('..', import.meta.url))
const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')

/** Runs the first code block below a heading as a program, and resolves its output. */
export async function runReadme(heading: string, variables: Readonly<Record<string, string>>): Promise<string> {
  const [, code] = new RegExp(`^## ${heading}\n(?:(?!^## )[^])*?^\`\`\`ts\n([^]*?)^\`\`\`$`, 'm').exec(readme) ?? []
  if (code === undefined) throw new Error(`The README has no code right below "${heading}".`)
  const flags = ['--conditions=@payment-integration/source', '--import', 'tsx', '--input-type=module', '--eval', code]
  const env = { ...process.env, ...variables }
  return (await promisify(execFile)(process.execPath, flags, { cwd: packageFolder, env })).stdout
}
