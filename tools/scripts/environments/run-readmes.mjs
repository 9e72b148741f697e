/** Runs the blocks of READMEs and guides as programs, from the tarballs, beside a running service. @module */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { transform } from 'esbuild'
import { findDocumentsWithBlocks, getBlocks, getRunner } from '../readme-blocks.mjs'
import { runOrThrow } from './child.mjs'

/**
 * Runs every block that has a plan.
 * @param {object} context - See `run-runtimes.mjs`; `folder` is the installed copy of `tools/environments/service`,
 * `service` runs.
 */
export async function runReadmes({ root, folder, service, results, inParallel }) {
  const { plans } = await import(pathToFileURL(join(folder, 'readme-plans.mjs')).href)
  const blocks = await Promise.all(
    findDocumentsWithBlocks(root).map(async (file) => getBlocks(file, await readFile(join(root, file), 'utf8'))),
  )
  const chosen = blocks.flat().filter((block) => getRunner(block)?.environments)
  const unmatched = Object.keys(plans).filter((name) => !chosen.some(({ file, index }) => name === `${file} ${index}`))
  for (const name of unmatched)
    results.add({ group: 'readmes', row: name, column: 'run', verdict: 'FAILED', detail: 'it has a plan and no block' })
  await inParallel(
    chosen.map(
      (block) => () =>
        results.check('readmes', `${block.file}:${block.line}`, 'run', async () => {
          const plan = plans[`${block.file} ${block.index}`]
          if (plan === undefined) throw new Error('tools/environments/service/readme-plans.mjs has no plan for it')
          await runBlock(block, plan({ ...service, port: await findFreePort() }), folder)
        }),
    ),
  )
}

async function runBlock({ file, index, code }, { before = '', after = '', swap = [], env = {}, says }, folder) {
  const blockFolder = join(folder, `readme-${file.replaceAll(/\W/g, '-')}-${index}`)
  await mkdir(blockFolder)
  let block = code
  for (const [text, real] of swap) {
    if (!block.includes(text)) throw new Error(`The plan swaps ${text}, which the block does not have.`)
    block = block.replaceAll(text, real)
  }
  const program = await transform(`${before}\n${block}\n${after}\n`, { loader: 'ts', format: 'esm', target: 'es2022' })
  await writeFile(join(blockFolder, 'program.mjs'), program.code)
  const output = await runOrThrow(process.execPath, ['program.mjs'], {
    cwd: blockFolder,
    env: { DATABASE_URL: undefined, ...env },
    seconds: 60,
  })
  if (!says.test(output)) throw new Error(`It printed ${JSON.stringify(output.slice(0, 600))}, expected ${says}`)
}

async function findFreePort() {
  const server = createServer()
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address()
  await new Promise((resolve) => server.close(resolve))
  return port
}
