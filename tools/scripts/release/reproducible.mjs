/** Builds the commit a second time, elsewhere, and compares the tarballs. @module */
import { cp, mkdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { run } from '../packages/run.mjs'
import { sha256Of } from './provenance.mjs'

/**
 * @param {string} root - The workspace; its commit is built again.
 * @param {string} temporary - An empty folder.
 * @param {readonly string[]} tarballs - Of the first build.
 * @returns {Promise<string[]>} One line for each tarball whose bytes differ.
 */
export async function findDifferences(root, temporary, tarballs) {
  const [copy, into] = [join(temporary, 'copy'), join(temporary, 'again')]
  await runOrThrow('git', ['clone', '--quiet', root, copy], root)
  // The links to our packages are relative: in the copy they lead to the copy.
  await cp(join(root, 'node_modules'), join(copy, 'node_modules'), { recursive: true, verbatimSymlinks: true })
  for (const folder of ['chain-evm', 'cli'])
    await cp(join(root, 'packages', folder, 'node_modules'), join(copy, 'packages', folder, 'node_modules'), {
      recursive: true,
      verbatimSymlinks: true,
    })
  await runOrThrow('npm', ['run', 'build'], copy)
  await mkdir(into)
  await runOrThrow('npm', ['pack', '--workspaces', '--pack-destination', into], join(copy))
  const differences = []
  for (const first of tarballs)
    if ((await sha256Of(first)) !== (await sha256Of(join(into, basename(first)))))
      differences.push(`${basename(first)} has other bytes when it is built again`)
  return differences
}

async function runOrThrow(command, args, cwd) {
  const { code, stdout, stderr } = await run(command, args, { cwd })
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} failed: ${stderr || stdout}`.slice(0, 4_000))
}
