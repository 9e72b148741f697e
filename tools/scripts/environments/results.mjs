/** Collects results and formats them as lines, tables and counts. @module */

/**
 * @typedef {object} Result
 * @property {string} group - Which table it belongs to.
 * @property {string} row - Where it ran.
 * @property {string} column - What ran.
 * @property {'ok' | 'FAILED' | 'skipped'} verdict
 * @property {string} [detail] - Why it failed or was skipped, or a figure to show instead of `ok`.
 */

/** Collects results, and reports each at once. */
export function createResults(print) {
  /** @type {Result[]} */
  const results = []
  return {
    results,
    /** @param {Result} result */
    add(result) {
      results.push(result)
      const { group, row, column, verdict, detail } = result
      print(`${verdict.padEnd(8)} ${group}: ${row}: ${column}${verdict !== 'ok' && detail ? `: ${detail}` : ''}`)
    },
    /** Runs a check and adds its result. A returned text replaces `ok`; a throw is a failure. */
    async check(group, row, column, run) {
      try {
        const detail = await run()
        this.add({ group, row, column, verdict: 'ok', ...(typeof detail === 'string' ? { detail } : {}) })
      } catch (error) {
        this.add({ group, row, column, verdict: 'FAILED', detail: error?.message ?? String(error) })
      }
    },
  }
}

/** A table per group: a row per runtime, a column per check. */
export function formatTables(results) {
  return [...new Set(results.map(({ group }) => group))].map((group) => {
    const groupResults = results.filter((result) => result.group === group)
    const rows = [...new Set(groupResults.map(({ row }) => row))]
    const columns = [...new Set(groupResults.map(({ column }) => column))]
    const cell = (row, column) => {
      const found = groupResults.find((result) => result.row === row && result.column === column)
      if (found === undefined) return '-'
      return found.verdict === 'ok' ? (found.detail ?? 'ok') : found.verdict
    }
    const lines = [[group, ...columns], ...rows.map((row) => [row, ...columns.map((column) => cell(row, column))])]
    const widths = lines[0].map((_, at) => Math.max(...lines.map((line) => line[at].length)))
    return lines
      .map((line) =>
        line
          .map((text, at) => text.padEnd(widths[at]))
          .join('  ')
          .trimEnd(),
      )
      .join('\n')
  })
}

/** `N passed, N failed, N skipped`. */
export function formatCounts(results) {
  const countVerdicts = (verdict) => results.filter((result) => result.verdict === verdict).length
  return `${countVerdicts('ok')} passed, ${countVerdicts('FAILED')} failed, ${countVerdicts('skipped')} skipped`
}
