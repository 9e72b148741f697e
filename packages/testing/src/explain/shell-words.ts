/** Splits a command line into words as a POSIX shell does, without running or expanding anything. @module */
import { RequestUnreadableError } from './request-error.js'

/** The words, and whether a word has an expansion that a shell would have replaced. */
export interface ShellWords {
  readonly words: readonly string[]
  readonly hasExpansion: boolean
}

const ends: ReadonlySet<string | undefined> = new Set([' ', '\t', '\n', '\r', ';', '|', '&', undefined])
const operators: ReadonlySet<string | undefined> = new Set([';', '|', '&'])

/**
 * Splits the first command of a text: words end at blanks, and the command at `;`, `|`, `&` or the end.
 * @throws {@link RequestUnreadableError} For a quote that is not closed.
 */
export function shellWords(text: string): ShellWords {
  const words: string[] = []
  let hasExpansion = false
  let at = 0
  for (;;) {
    at = skipBlanks(text, at)
    if (at >= text.length || operators.has(text[at])) return { words, hasExpansion }
    const parts: string[] = []
    while (!ends.has(text[at])) {
      const read = readPart(text, at)
      parts.push(read.text)
      hasExpansion ||= read.hasExpansion
      at = read.end
    }
    words.push(parts.join(''))
  }
}

function skipBlanks(text: string, start: number): number {
  let at = start
  for (;;) {
    if (text[at] === ' ' || text[at] === '\t') at++
    else if (text[at] === '\\' && /^\\\r?\n/.test(text.slice(at, at + 3))) at += text[at + 1] === '\r' ? 3 : 2
    // A line end would end the command, but pasted commands often lose the backslash before it.
    else if (text[at] === '\n' || text[at] === '\r') at++
    else return at
  }
}

interface Part {
  readonly text: string
  readonly end: number
  readonly hasExpansion: boolean
}

function readPart(text: string, at: number): Part {
  const plain = (part: string, end: number, hasExpansion = false): Part => ({ text: part, end, hasExpansion })
  if (text[at] === "'") {
    const end = text.indexOf("'", at + 1)
    if (end < 0) throw unclosed()
    return plain(text.slice(at + 1, end), end + 1)
  }
  if (text[at] === '$' && text[at + 1] === "'") return ansiQuoted(text, at + 2)
  if (text[at] === '"') return doubleQuoted(text, at + 1)
  if (text[at] === '\\') {
    if (text[at + 1] === '\n') return plain('', at + 2)
    return plain(text[at + 1] ?? '', at + 2)
  }
  return plain(text[at] ?? '', at + 1, text[at] === '$' || text[at] === '`')
}

function doubleQuoted(text: string, start: number): Part {
  const parts: string[] = []
  let hasExpansion = false
  for (let at = start; at < text.length; at++) {
    const character = text[at] ?? ''
    const next = text[at + 1] ?? ''
    if (character === '"') return { text: parts.join(''), end: at + 1, hasExpansion }
    if (character === '\\' && '$`"\\\n'.includes(next) && next !== '') {
      if (next !== '\n') parts.push(next)
      at++
      continue
    }
    hasExpansion ||= character === '`' || (character === '$' && /[A-Za-z_{(]/.test(next))
    parts.push(character)
  }
  throw unclosed()
}

const escapes: Readonly<Record<string, string>> = {
  ...{ n: '\n', r: '\r', t: '\t', a: '\x07', b: '\b', e: '\x1b', E: '\x1b', f: '\f', v: '\v' },
  ...{ '\\': '\\', "'": "'", '"': '"', '?': '?' },
}
/** Escapes with digits: hex, Unicode, octal. */
const numeric = /^\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([0-7]{1,3}))/

/** The content of `$'…'`. Bytes above 0x7f, written one by one, are joined as UTF-8. */
function ansiQuoted(text: string, start: number): Part {
  const bytes: number[] = []
  const encoder = new TextEncoder()
  let plainFrom = start
  const flush = (end: number) => {
    if (end > plainFrom) for (const byte of encoder.encode(text.slice(plainFrom, end))) bytes.push(byte)
  }
  for (let at = start; at < text.length; ) {
    if (text[at] === "'") {
      flush(at)
      return { text: new TextDecoder().decode(Uint8Array.from(bytes)), end: at + 1, hasExpansion: false }
    }
    if (text[at] !== '\\') {
      at++
      continue
    }
    flush(at)
    const [whole = '', hex, short, long, octal] = numeric.exec(text.slice(at, at + 10)) ?? []
    const code = Number.parseInt(hex ?? short ?? long ?? octal ?? '', octal === undefined ? 16 : 8)
    if (whole === '') {
      const next = text[at + 1] ?? ''
      for (const byte of encoder.encode(escapes[next] ?? `\\${next}`)) bytes.push(byte)
      at += 2
    } else {
      if (hex !== undefined || octal !== undefined) bytes.push(code & 0xff)
      else for (const byte of encoder.encode(code > 0x10ffff ? '\ufffd' : String.fromCodePoint(code))) bytes.push(byte)
      at += whole.length
    }
    plainFrom = at
  }
  throw unclosed()
}

function unclosed(): RequestUnreadableError {
  return new RequestUnreadableError('curl', 'A quote of the curl command is not closed; paste the whole command.')
}
