/** Checks the licenses of the npm packages that are installed with ours. @module */

/** Licenses that require only their notice, so a closed program may contain the code. */
const accepted = new Set(['MIT', 'Apache-2.0', 'ISC', 'BSD-2-Clause', 'BSD-3-Clause', '0BSD', 'Unlicense', 'CC0-1.0'])

/**
 * @param {Iterable<import('./dependencies.mjs').Dependency>} dependencies
 * @returns {string[]} One line for each license that is not accepted. Of a choice, one accepted license suffices.
 */
export function findLicenseProblems(dependencies) {
  return [...dependencies]
    .filter(({ license }) => !license.split(/[()]| OR /).some((choice) => accepted.has(choice)))
    .map(({ name, version, license }) => `${name}@${version} has the license ${license}`)
}
