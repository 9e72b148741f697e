/** Runs the same programs in every runtime, and expects the same verdicts. @module */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findRuntimes, runChromium, runFile, runWorkerd } from './runtimes.mjs'

/** Files under `vectors/` that a program runs in every runtime, by a short name. */
const vectorFiles = { signature: 'signature', deliveries: 'deliveries', identity: 'identity-signatures' }

/** Vectors for the service only, which has its own tests for them. */
const vectorsOfTheService = ['addresses', 'hostile-requests']

/** Programs, and their titles in the table. */
const columns = {
  signatureVectors: 'signature vectors',
  deliveryVectors: 'delivery vectors',
  identityVectors: 'identity vectors',
  receiveDeliveries: 'receiving',
  serveRequests: 'over HTTP',
  memoryStore: 'memory store',
  readPayments: 'client',
}

/** Programs that a runtime does not run, each with its reason. */
const leftOut = {
  // The API secret belongs on a server, and the service answers no cross-origin request.
  chromium: ['readPayments'],
  // The suite comes as an ES module alone.
  cjs: ['memoryStore'],
}

/**
 * Runs the programs everywhere and compares. A verdict that contradicts the vectors, or differs from another runtime,
 * is a failure.
 * @param {object} context
 * @param {string} context.root - The workspace.
 * @param {string} context.runtimes - The installed copy of `tools/environments/runtimes`.
 * @param {string} context.integrator - The installed copy of `tools/environments/integrator`.
 * @param {object} context.service - A running service and its credentials.
 * @param {ReturnType<import('./results.mjs').createResults>} context.results
 * @param {(tasks: (() => Promise<void>)[]) => Promise<void>} context.inParallel
 */
export async function runRuntimes({ root, runtimes, integrator, service, results, inParallel }) {
  const vectors = {}
  for (const [name, file] of Object.entries(vectorFiles))
    vectors[name] = JSON.parse(await readFile(join(root, 'vectors', `${file}.json`), 'utf8'))
  await results.check('vectors', 'vectors/*.json', 'run or left to the service', async () => {
    const allVectors = [...Object.values(vectorFiles), ...vectorsOfTheService]
    const files = (await readdir(join(root, 'vectors'))).filter((file) => file.endsWith('.json'))
    const unknown = files.filter((file) => !allVectors.includes(file.slice(0, -'.json'.length)))
    if (unknown.length > 0) throw new Error(`No program runs ${unknown.join(', ')}.`)
    return `${files.length} files`
  })
  const reference = {}
  const runs = findRuntimes(runtimes).flatMap((runtime) =>
    (runtime.kind === 'node' ? ['esm', 'cjs'] : ['esm']).map((format) => ({ runtime, format })),
  )
  await inParallel(runs.map((one) => () => judge(one)))

  async function judge({ runtime, format }) {
    const row = runtime.kind === 'node' ? `${runtime.name} ${format}` : runtime.name
    const excluded = [...(leftOut[runtime.kind] ?? []), ...(leftOut[format] ?? [])]
    const programs = Object.keys(columns).filter((name) => !excluded.includes(name))
    if (runtime.missing) {
      for (const name of programs)
        results.add({ group: 'runtimes', row, column: columns[name], verdict: 'skipped', detail: runtime.missing })
      return
    }
    const started = runProgramsIn(runtime, integrator, format, { programs, vectors, service })
    started.catch(() => {})
    for (const name of programs)
      await results.check('runtimes', row, columns[name], async () => {
        const verdicts = (await started)[name]
        reference[name] ??= { row, verdicts }
        return compareVerdicts(verdicts, reference[name])
      })
  }
}

function runProgramsIn(runtime, folder, format, input) {
  if (runtime.kind === 'workerd') return runWorkerd(runtime, folder, input)
  if (runtime.kind === 'chromium') return runChromium(runtime, folder, input)
  return runFile(runtime, folder, format, input)
}

/** The number of verdicts. @throws {Error} With the first that are wrong, or differ from those of the reference. */
function compareVerdicts(verdicts, reference) {
  const wrong = verdicts.filter((verdict) => /^(WRONG|threw)/.test(verdict))
  if (wrong.length > 0) throw new Error(`${wrong.length} wrong:\n${wrong.slice(0, 5).join('\n')}`)
  if (verdicts.length === 0) throw new Error('It gave no verdict.')
  const differing = Array.from({ length: Math.max(verdicts.length, reference.verdicts.length) }, (_, at) => at).filter(
    (at) => verdicts[at] !== reference.verdicts[at],
  )
  if (differing.length > 0)
    throw new Error(
      differing
        .slice(0, 5)
        .map((at) => `here ${verdicts[at]}, on ${reference.row} ${reference.verdicts[at]}`)
        .join('\n'),
    )
  return `${verdicts.length} equal`
}
