/** Writes changelogs for people: the text of each change, without commits and without the packages it depends on. */
module.exports = {
  getReleaseLine: async ({ summary }) => {
    const [first, ...rest] = summary.trim().split('\n')
    return [`- ${first}`, ...rest.map((line) => (line === '' ? '' : `  ${line}`))].join('\n')
  },
  getDependencyReleaseLine: async () => '',
}
