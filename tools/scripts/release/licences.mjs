/** Checks the licences of the npm packages that are installed with ours. @module */

/** Licences that require only their notice, so a closed program may contain the code. */
const accepted = new Set(['MIT', 'Apache-2.0', 'ISC', 'BSD-2-Clause', 'BSD-3-Clause', '0BSD', 'Unlicense', 'CC0-1.0'])

/**
 * @param {Iterable<import('./dependencies.mjs').Dependency>} dependencies
 * @returns {string[]} One line for each licence that is not accepted. Of a choice, one accepted licence suffices.
 */
export function findLicenceProblems(dependencies) {
  return [...dependencies]
    .filter(({ licence }) => !licence.split(/[()]| OR /).some((choice) => accepted.has(choice)))
    .map(({ name, version, licence }) => `${name}@${version} has the licence ${licence}`)
}
