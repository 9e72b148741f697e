/** Tables for people. @module */

/** Lines whose columns begin below each other, two spaces apart. Numbers go to the right. */
export function table(rows: readonly (readonly string[])[]): string[] {
  const count = Math.max(0, ...rows.map((row) => row.length))
  const columns = Array.from({ length: count }, (_, index) => {
    const cells = rows.map((row) => row[index] ?? '')
    const [, ...values] = cells
    return {
      width: Math.max(...cells.map((cell) => cell.length)),
      isNumber: values.length > 0 && values.every((cell) => /^([0-9][0-9,.]*|-)$/.test(cell)),
    }
  })
  return rows.map((row) =>
    columns
      .map(({ width, isNumber }, index) =>
        isNumber ? (row[index] ?? '').padStart(width) : (row[index] ?? '').padEnd(width),
      )
      .join('  ')
      .trimEnd(),
  )
}
