import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const packages = fileURLToPath(new URL('../../../', import.meta.url))

/** Builds what the command is made of, without types: the test runs the same JavaScript that a tarball holds. */
export async function buildCommand(): Promise<string> {
  const names = [
    'contract',
    'webhook',
    'version-store',
    'client',
    'core',
    'store-sql',
    'chain-evm',
    'chain-feed',
    'identity-sumsub',
    'console',
    'server',
    'cli',
  ]
  const tsup = fileURLToPath(new URL('../../../../node_modules/tsup/dist/cli-default.js', import.meta.url))
  const build = async () => {
    for (let name = names.shift(); name !== undefined; name = names.shift())
      await run(process.execPath, [tsup, '--config', '../../tsup.config.ts'], {
        cwd: `${packages}${name}`,
        env: { ...process.env, NO_DTS: '1' },
      })
  }
  await Promise.all([build(), build()])
  return `${packages}cli/dist/bin.js`
}
