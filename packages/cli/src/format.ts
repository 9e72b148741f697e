/** Formats numbers, times, hashes and tables for people. @module */

/** `1,204,331`. */
export function grouped(value: number): string {
  return Math.round(value).toLocaleString('en-US')
}

/** A rate, with enough digits to differ from zero: `1,204`, `8.3`, `0.02`. */
export function rate(perSecond: number): string {
  if (perSecond >= 10 || perSecond === 0) return grouped(perSecond)
  return perSecond.toFixed(perSecond >= 0.1 ? 1 : 2)
}

const units = [
  { name: 's', seconds: 1, upTo: 90 },
  { name: 'min', seconds: 60, upTo: 5_400 },
  { name: 'h', seconds: 3_600, upTo: 172_800 },
  { name: 'days', seconds: 86_400, upTo: Number.POSITIVE_INFINITY },
] as const

/** A span of time in a fitting unit, rounded up: `45 s`, `12 min`, `3 h`, `4 days`. */
export function span(seconds: number): string {
  const unit = units.find(({ upTo }) => seconds < upTo) ?? units[0]
  return `${grouped(Math.ceil(seconds / unit.seconds))} ${unit.name}`
}

const exactUnits = [
  { name: 'days', ms: 86_400_000, from: 2 },
  { name: 'h', ms: 3_600_000, from: 1 },
  { name: 'min', ms: 60_000, from: 1 },
  { name: 's', ms: 1_000, from: 1 },
  { name: 'ms', ms: 1, from: 0 },
] as const

/**
 * A configured duration without rounding, in the largest unit that gives a whole number:
 * `7 days`, `24 h`, `90 min`, `500 ms`.
 */
export function duration(ms: number): string {
  const unit = exactUnits.find((each) => ms % each.ms === 0 && ms / each.ms >= each.from) ?? exactUnits[4]
  return `${grouped(ms / unit.ms)} ${unit.name}`
}

/** `2026-03-01 09:30:00Z`: in UTC, and sortable. Null: `-`. */
export function momentText(ms: number | null): string {
  return ms === null ? '-' : `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')}Z`
}

/** The same with milliseconds. */
export function exactMomentText(ms: number): string {
  return new Date(ms).toISOString().replace('T', ' ')
}

/** Aligns rows in columns, two spaces apart. The first row is the head; columns of numbers align right. */
export function table(given: readonly (readonly string[])[]): string[] {
  const rows = given.map((row) => row.map(plain))
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

/** `0x9f2c81..04e1`: enough to tell payments apart on a screen, not to identify one. */
export function shortHash(hash: string): string {
  return hash.length <= 14 ? hash : `${hash.slice(0, 8)}..${hash.slice(-4)}`
}

/**
 * Makes foreign text safe for a terminal: characters that move the cursor, colour or hide become a space. Tabs stay.
 * The output of every command does it, so that a caller needs it only before it measures or cuts a text.
 */
export function plain(text: string): string {
  return text.replace(/(?:(?!\t)[\p{C}\p{Zl}\p{Zp}])+/gu, ' ')
}

/** The sentence below a new secret. `subject` includes the verb, as in `The key is`; `them` is its pronoun. */
export function shownOnce(subject: string, them: 'it' | 'them' = 'it'): string {
  return `${subject} shown only this once: store ${them} safely now.`
}
