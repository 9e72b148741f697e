/** Adds dependencies and scripts to a `package.json`. @module */
import type { Manifest, Project } from './project.js'
import { versions } from './versions.js'

/** The needs of the written code. */
export interface ManifestAdditions {
  readonly dependencies: readonly string[]
  readonly devDependencies: readonly string[]
  readonly scripts: Readonly<Record<string, string>>
}

/** The changed text, and the scripts that exist with another content and were left. */
export interface ChangedManifest {
  readonly text: string
  readonly conflicts: readonly string[]
}

/**
 * Adds what is missing. A dependency of any version, of either kind, counts as present. The text is unchanged when
 * nothing is missing; else it has the indentation and the last line break of the original.
 */
export function changeManifest({ manifest, manifestText }: Project, additions: ManifestAdditions): ChangedManifest {
  const { dependencies = {}, devDependencies = {}, scripts = {} } = manifest
  const missing = (names: readonly string[], ...present: readonly object[]) =>
    names.filter((name) => !present.some((each) => Object.hasOwn(each, name)))
  const plain = missing(additions.dependencies, dependencies)
  const development = missing(additions.devDependencies, dependencies, devDependencies)
  const newScripts = missing(Object.keys(additions.scripts), scripts)
  const conflicts = Object.entries(additions.scripts)
    .filter(([name, script]) => Object.hasOwn(scripts, name) && scripts[name] !== script)
    .map(([name, script]) => `"${name}": ${JSON.stringify(script)}`)
  if (plain.length + development.length + newScripts.length === 0) return { text: manifestText, conflicts }

  const changed: Manifest = {
    ...manifest,
    ...(newScripts.length > 0 && {
      scripts: { ...scripts, ...Object.fromEntries(newScripts.map((name) => [name, additions.scripts[name] ?? ''])) },
    }),
    ...(plain.length > 0 && { dependencies: withVersions(dependencies, plain) }),
    ...(development.length > 0 && { devDependencies: withVersions(devDependencies, development) }),
  }
  const [, indentation = '  '] = /^\{\r?\n([ \t]+)/.exec(manifestText) ?? []
  const text = JSON.stringify(changed, null, indentation)
  return { text: manifestText.endsWith('\n') ? `${text}\n` : text, conflicts }
}

/** In the order of their names, as npm sorts them. */
function withVersions(present: Readonly<Record<string, string>>, names: readonly string[]): Record<string, string> {
  const all = { ...present, ...Object.fromEntries(names.map((name) => [name, versions[name] ?? '*'])) }
  return Object.fromEntries(Object.entries(all).sort(([a], [b]) => (a < b ? -1 : 1)))
}
