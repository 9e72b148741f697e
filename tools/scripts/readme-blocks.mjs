/** Lists the code blocks of READMEs and guides, and their runners. @module */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'

/**
 * The runner of a block. `environments`: `npm run environments` runs it from the tarballs, by its plan in
 * `tools/environments/service/readme-plans.mjs`. `tests`: these test files run it. `compiled`: it cannot
 * run, for the given reason. `npm run examples` compiles every TypeScript block in any case.
 * @typedef {{ environments: true } | { tests: string[] } | { compiled: string }} Runner
 */

/**
 * By file, in the order of its blocks; a single entry stands for all of them. @type {Record<string, Runner | Runner[]>}
 */
const runners = {
  'README.md': { tests: ['packages/webhook/test/adapters/readme.test.ts'] },
  'docs/doctor.md': { tests: ['packages/testing/test/readme.slow.test.ts'] },
  'docs/explain.md': { tests: ['packages/testing/test/readme.slow.test.ts'] },
  'docs/guides/compute-with-amounts.md': { tests: ['packages/client/test/readme.slow.test.ts'] },
  'docs/guides/console-and-portal.md': { tests: ['packages/core/src/operators/readme.test.ts'] },
  'docs/guides/embed-the-service.md': {
    compiled: 'its host has PostgreSQL; examples/embedding and examples/fastify-host run the same lines',
  },
  'docs/guides/limit-requests.md': { environments: true },
  'docs/guides/price-payments.md': {
    compiled: 'it needs nodes of two chains and a host; packages/chain-evm tests the same source on recorded chains',
  },
  'docs/guides/receive-in-a-framework.md': { tests: ['packages/webhook/test/adapters/readme.test.ts'] },
  'docs/guides/reconcile.md': { tests: ['packages/client/test/readme.slow.test.ts'] },
  'docs/guides/serve-shared-verifications.md': [
    { environments: true },
    {
      compiled: 'its host has users in PostgreSQL; examples/embedding and examples/fastify-host run the same two calls',
    },
  ],
  'docs/guides/share-a-verification.md': { tests: ['packages/client/test/readme.slow.test.ts'] },
  'docs/guides/store-versions-in-your-database.md': { tests: ['packages/version-store/test/readme.slow.test.ts'] },
  'docs/guides/test-an-integration.md': [
    { tests: ['packages/testing/test/readme.slow.test.ts'] },
    { tests: ['packages/testing/test/readme.slow.test.ts'] },
    { compiled: 'it is a test file of vitest; packages/testing/test/service.test.ts makes the same calls' },
  ],
  'docs/guides/test-shared-verifications.md': [
    { tests: ['packages/testing/test/readme.slow.test.ts'] },
    { environments: true },
  ],
  'docs/guides/use-the-legacy-api.md': { tests: ['packages/client/test/readme.slow.test.ts'] },
  'packages/chain-evm/README.md': { environments: true },
  'packages/chain-feed/README.md': {
    compiled: 'it needs NATS servers and a chain; packages/chain-feed/src tests make the same calls on both',
  },
  'packages/cli/README.md': { environments: true },
  'packages/client/README.md': { tests: ['packages/client/test/readme.slow.test.ts'] },
  'packages/console/README.md': {
    compiled: 'it needs a host with a master key; packages/console and packages/server test the same calls',
  },
  'packages/contract/README.md': { environments: true },
  'packages/core/README.md': { environments: true },
  'packages/identity-sumsub/README.md': { tests: ['packages/identity-sumsub/test/readme.slow.test.ts'] },
  'packages/mirror/README.md': { tests: ['packages/mirror/test/readme.slow.test.ts'] },
  'packages/server/README.md': { environments: true },
  'packages/store-sql/README.md': { environments: true },
  'packages/testing/README.md': { tests: ['packages/testing/test/readme.slow.test.ts'] },
  'packages/version-store/README.md': { tests: ['packages/version-store/test/readme.slow.test.ts'] },
  'packages/webhook/README.md': { tests: ['packages/webhook/src/readme.slow.test.ts'] },
}

/**
 * A block, with the line where its code begins.
 * @typedef {{ file: string, index: number, line: number, language: 'ts' | 'js', code: string }} Block
 */

/** The TypeScript and JavaScript blocks of a text. @returns {Block[]} */
export function getBlocks(file, text) {
  return [...text.matchAll(/^```(ts|typescript|js|javascript)\n([\s\S]*?)^```$/gm)].map((match, index) => ({
    file,
    index,
    line: text.slice(0, match.index).split('\n').length + 1,
    language: match[1].startsWith('t') ? 'ts' : 'js',
    code: match[2],
  }))
}

/** The README of the workspace and of every package, every guide, and the other pages with a runner. */
export function findDocumentsWithBlocks(root) {
  const readmes = readdirSync(join(root, 'packages')).map((name) => `packages/${name}/README.md`)
  const guides = readdirSync(join(root, 'docs/guides')).map((name) => `docs/guides/${name}`)
  return [...new Set([...readmes, ...guides, ...Object.keys(runners)])].filter((file) => existsSync(join(root, file)))
}

/** The runner of a block. @returns {Runner | undefined} */
export function getRunner({ file, index }) {
  const runner = runners[file]
  return Array.isArray(runner) ? runner[index] : runner
}

/** Blocks without a runner, too many runners in a list, and tests that do not name the document. @returns {string[]} */
export function findUnrunBlocks(root) {
  const missing = Object.keys(runners).filter((file) => !existsSync(join(root, file)))
  const missingDocuments = missing.map((file) => `${file} does not exist, and tools/scripts/readme-blocks.mjs lists it`)
  const found = findDocumentsWithBlocks(root).flatMap((file) => {
    const blocks = getBlocks(file, readFileSync(join(root, file), 'utf8'))
    const runner = runners[file]
    const problems = blocks
      .filter((block) => getRunner(block) === undefined)
      .map(({ line }) => `${file}:${line} has code that nobody runs; say in tools/scripts/readme-blocks.mjs who does`)
    if (Array.isArray(runner) && runner.length > blocks.length)
      problems.push(`${file} has ${blocks.length} blocks, tools/scripts/readme-blocks.mjs lists ${runner.length}`)
    for (const path of [runner ?? []].flat().flatMap((entry) => entry.tests ?? []))
      if (!namesDocument(join(root, path), file))
        problems.push(`${path} is said to run blocks of ${file} and does not name it`)
    return problems
  })
  return [...missingDocuments, ...found]
}

function namesDocument(path, file) {
  return existsSync(path) && readFileSync(path, 'utf8').includes(basename(file))
}
