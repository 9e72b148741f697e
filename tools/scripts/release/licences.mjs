/** Checks the licences of what is installed with the packages. @module */

/** They ask for their notice and no more, so that a closed program may contain them. */
const accepted = new Set(['MIT', 'Apache-2.0', 'ISC', 'BSD-2-Clause', 'BSD-3-Clause', '0BSD', 'Unlicense', 'CC0-1.0'])

/**
 * @param {Iterable<import('./dependencies.mjs').Dependency>} dependencies
 * @returns {string[]} One line for each licence that is not accepted. Of a choice, one accepted licence suffices.
 */
export function licenceProblems(dependencies) {
  return [...dependencies]
    .filter(({ licence }) => !licence.split(/[()]| OR /).some((choice) => accepted.has(choice)))
    .map(({ name, version, licence }) => `${name}@${version} has the licence ${licence}`)
}
