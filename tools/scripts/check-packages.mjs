/**
 * Checks each package as npm would publish it. Needs `npm run build` first.
 * Usage: node tools/scripts/check-packages.mjs [--update] [--root <folder>] [package ...]
 * `--update` records the public names and the manifests instead of comparing them. `--root` names another workspace.
 * Exit code 0 without problems, else 1.
 * @module
 */
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { findConsumerProblems } from './packages/consumer.mjs'
import { findContentProblems, findExportsMapProblems } from './packages/contents.mjs'
import { findPublintProblems, findTypesProblems } from './packages/lint.mjs'
import { compareManifests, findManifestProblems } from './packages/manifests.mjs'
import { packAll } from './packages/pack.mjs'
import { compareWithRecord, readPublicApi } from './packages/public-api.mjs'
import { findSizeProblems } from './packages/sizes.mjs'

const { values: flags, positionals: only } = parseArgs({
  allowPositionals: true,
  options: { update: { type: 'boolean', default: false }, root: { type: 'string' } },
})
const root = resolve(flags.root ?? join(import.meta.dirname, '../..'))
const temporary = await realpath(await mkdtemp(join(tmpdir(), 'packages-')))
try {
  process.exitCode = await check()
} finally {
  await rm(temporary, { recursive: true, force: true })
}

async function check() {
  const all = await packAll(root, temporary, only)
  const chosen = only.length ? all.filter(({ folder }) => only.includes(folder)) : all
  const api = readPublicApi(chosen)
  let failed = 0
  const sizes = []
  for (const packed of chosen) {
    const into = join(temporary, `consumer-${packed.folder}`)
    await mkdir(into)
    const problems = [
      ...findManifestProblems(packed),
      ...(await findContentProblems(packed, root)),
      ...(await findExportsMapProblems(packed)),
      ...(await findPublintProblems(packed)),
      ...(await findTypesProblems(packed)),
      ...(await findConsumerProblems(packed, { all, root, into, api })),
    ]
    const { problems: overweight, table } = await findSizeProblems(packed, { root, into, api })
    problems.push(...overweight)
    sizes.push(...table)
    console.log(`${problems.length ? 'FAIL' : 'ok  '} ${packed.manifest.name}: ${packed.files.length} files`)
    for (const problem of problems) console.log(`     ${problem.replaceAll('\n', '\n     ')}`)
    failed += problems.length
  }
  if (sizes.length) console.log(`\nMinified and gzipped, in bytes:\n${sizes.join('\n')}\n`)
  const changes = [
    ...(await compareWithRecord(api, join(root, 'tools/scripts/public-api.snapshot.json'), flags.update)),
    ...(await compareManifests(chosen, join(root, 'tools/scripts/manifests.snapshot.json'), flags.update)),
  ]
  for (const change of changes) console.log(change)
  if (changes.length) console.log('If these changes are meant, record them: npm run packages -- --update')
  return failed + changes.length > 0 ? 1 : 0
}
