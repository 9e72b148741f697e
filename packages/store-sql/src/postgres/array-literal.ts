/** Formats PostgreSQL arrays. @module */

/** Text that needs no quotes, like most values: hashes, addresses and digits. */
const plain = /^[0-9][0-9a-fx]*$/

/**
 * Numbers or text as the text of an array. `pg` formats arrays too, but its search for backslashes and quotes costs
 * more than the insert.
 */
export function arrayLiteral(values: readonly unknown[]): string {
  // Symbols and prices repeat.
  let lastText: string | undefined
  let lastQuoted = ''
  let text = '{'
  for (const [index, value] of values.entries()) {
    if (index > 0) text += ','
    if (value === null) text += 'NULL'
    else if (typeof value === 'number') text += value
    else {
      const given = String(value)
      if (plain.test(given)) text += given
      else {
        if (given !== lastText) {
          lastText = given
          lastQuoted = `"${given.replace(/[\\"]/g, '\\$&')}"`
        }
        text += lastQuoted
      }
    }
  }
  return `${text}}`
}
