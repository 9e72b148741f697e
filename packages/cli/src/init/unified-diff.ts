/** Compares two texts by lines, as a unified diff. @module */

/** A line of both texts, of the old one, or of the new one. */
interface Line {
  readonly sign: ' ' | '-' | '+'
  readonly text: string
}

/** Unchanged lines around a change. */
const context = 3

/** Above this product of the numbers of differing lines, they are shown as replaced. */
const maxCells = 4_000_000

/**
 * The lines of a unified diff; none when the texts are equal.
 * @param before - Null for a new file.
 */
export function unifiedDiff(path: string, before: string | null, after: string): string[] {
  if (before === after) return []
  const lines = compare(linesOf(before ?? ''), linesOf(after))
  const head = [before === null ? '--- /dev/null' : `--- a/${path}`, `+++ b/${path}`]
  return [...head, ...hunksOf(lines).flatMap(({ from, to }) => hunkText(lines, from, to))]
}

/** A text without a last line break differs in its last line. */
function linesOf(text: string): string[] {
  if (text === '') return []
  const lines = text.split('\n')
  const last = lines.pop() ?? ''
  return last === '' ? lines : [...lines, `${last}\n\\ No newline at end of file`]
}

function compare(before: readonly string[], after: readonly string[]): Line[] {
  let start = 0
  while (start < before.length && start < after.length && before[start] === after[start]) start++
  let end = 0
  while (
    end < before.length - start &&
    end < after.length - start &&
    before[before.length - 1 - end] === after[after.length - 1 - end]
  )
    end++
  const same = (text: string): Line => ({ sign: ' ', text })
  return [
    ...before.slice(0, start).map(same),
    ...compareMiddle(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...before.slice(before.length - end).map(same),
  ]
}

/** By the longest common subsequence. */
function compareMiddle(before: readonly string[], after: readonly string[]): Line[] {
  const removed = (text: string): Line => ({ sign: '-', text })
  const added = (text: string): Line => ({ sign: '+', text })
  const width = after.length + 1
  if (before.length * after.length > maxCells) return [...before.map(removed), ...after.map(added)]
  const common = new Uint32Array((before.length + 1) * width)
  const at = (i: number, j: number) => common[i * width + j] ?? 0
  for (let i = before.length - 1; i >= 0; i--)
    for (let j = after.length - 1; j >= 0; j--)
      common[i * width + j] = before[i] === after[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
  const lines: Line[] = []
  let i = 0
  let j = 0
  while (i < before.length || j < after.length) {
    const old = before[i]
    const next = after[j]
    if (old !== undefined && old === next) {
      lines.push({ sign: ' ', text: old })
      i++
      j++
    } else if (old !== undefined && (next === undefined || at(i + 1, j) >= at(i, j + 1))) {
      lines.push(removed(old))
      i++
    } else {
      lines.push(added(next ?? ''))
      j++
    }
  }
  return lines
}

/** Ranges of lines around the changes. Ranges that touch are one. */
function hunksOf(lines: readonly Line[]): { from: number; to: number }[] {
  const hunks: { from: number; to: number }[] = []
  for (const [index, { sign }] of lines.entries()) {
    if (sign === ' ') continue
    const last = hunks.at(-1)
    const to = Math.min(lines.length, index + 1 + context)
    if (last && index - context <= last.to) last.to = to
    else hunks.push({ from: Math.max(0, index - context), to })
  }
  return hunks
}

function hunkText(lines: readonly Line[], from: number, to: number): string[] {
  const count = (part: readonly Line[], without: '-' | '+') => part.filter(({ sign }) => sign !== without).length
  const earlier = lines.slice(0, from)
  const shown = lines.slice(from, to)
  const range = (without: '-' | '+') => {
    const length = count(shown, without)
    // An empty range names the line before it.
    return `${count(earlier, without) + (length === 0 ? 0 : 1)},${length}`
  }
  return [`@@ -${range('+')} +${range('-')} @@`, ...shown.flatMap(({ sign, text }) => `${sign}${text}`.split('\n'))]
}
