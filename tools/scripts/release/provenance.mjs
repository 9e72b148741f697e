/** States what the tarballs were made from: an in-toto statement with SLSA provenance 1.0, unsigned. @module */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'

/**
 * @param {object} facts
 * @param {readonly string[]} facts.tarballs - Paths.
 * @param {string} facts.repository - Address of the repository, as in the manifests.
 * @param {string} facts.commit
 * @param {string} facts.lockDigest - SHA-256 of package-lock.json.
 * @param {{ node: string, npm: string }} facts.versions
 * @returns {Promise<string>} JSON. npm signs a statement of its own where it publishes with `--provenance`.
 */
export async function buildProvenance({ tarballs, repository, commit, lockDigest, versions }) {
  const subject = await Promise.all(
    tarballs.map(async (path) => ({ name: basename(path), digest: { sha256: await sha256Of(path) } })),
  )
  const statement = {
    _type: 'https://in-toto.io/Statement/v1',
    subject,
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: `${repository}/blob/main/CONTRIBUTING.md#releases`,
        externalParameters: { commands: ['npm ci', 'npm run build', 'npm pack'] },
        internalParameters: versions,
        resolvedDependencies: [
          { uri: `git+${repository}`, digest: { gitCommit: commit } },
          { name: 'package-lock.json', digest: { sha256: lockDigest } },
        ],
      },
      runDetails: { builder: { id: `${repository}/blob/main/tools/scripts/release-check.mjs` } },
    },
  }
  return `${JSON.stringify(statement, null, 2)}\n`
}

/** SHA-256 of a file, in hex. */
export async function sha256Of(path) {
  return createHash('sha256')
    .update(await readFile(path))
    .digest('hex')
}
