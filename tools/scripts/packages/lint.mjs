/** Runs publint and are-the-types-wrong on a packed tarball. @module */
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { run } from './run.mjs'

/**
 * publint messages that we accept, by package folder and code, each with its reason.
 * @type {Record<string, Record<string, string>>}
 */
const acceptedByPublint = {}

/**
 * Messages of publint, warnings and suggestions included, less the accepted ones.
 * @param {import('./pack.mjs').Packed} packed
 * @returns {Promise<string[]>}
 */
export async function findPublintProblems({ folder, tarball }) {
  const bytes = await readFile(tarball)
  const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength)
  const { messages, pkg } = await publint({ strict: true, pack: { tarball: buffer } })
  return messages
    .filter(({ code }) => acceptedByPublint[folder]?.[code] === undefined)
    .map((message) => `publint ${message.code}: ${formatMessage(message, pkg)}`)
}

/**
 * The report of are-the-types-wrong. Entries with `require` use the profile `node16`, the others `esm-only`. Both skip
 * the resolution before Node 12.7, which has no exports map.
 * @param {import('./pack.mjs').Packed} packed
 * @returns {Promise<string[]>}
 */
export async function findTypesProblems({ tarball, manifest }) {
  const tool = createRequire(import.meta.url).resolve('@arethetypeswrong/cli/package.json')
  const { bin } = JSON.parse(await readFile(tool, 'utf8'))
  const entries = Object.entries(manifest.exports).filter(([key]) => key !== './package.json')
  const profiles = {
    node16: entries.filter(([, entry]) => entry.require !== undefined),
    'esm-only': entries.filter(([, entry]) => entry.require === undefined),
  }
  const problems = []
  for (const [profile, chosen] of Object.entries(profiles)) {
    if (chosen.length === 0) continue
    // Without --no-definitely-typed it looks for an @types package on the network.
    const flags = ['--profile', profile, '--no-definitely-typed', '--format', 'ascii', '--no-emoji', '--no-color']
    const args = [tarball, ...flags, '--entrypoints', ...chosen.map(([key]) => key)]
    const { code, stdout, stderr } = await run(process.execPath, [join(dirname(tool), bin.attw), ...args])
    if (code !== 0) problems.push(`are-the-types-wrong (${profile}):\n${stdout}${stderr}`)
  }
  return problems
}
