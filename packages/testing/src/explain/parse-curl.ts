/** Parses headers and body of a curl command, without running it or reading files. @module */
import { UnreadableRequestError } from '../errors.js'
import type { HeaderPair, ParsedRequest } from './explain-input.js'
import { toUtf8 } from './undo.js'

const wordEnds: ReadonlySet<string | undefined> = new Set([' ', '\t', '\n', '\r', ';', '|', '&', undefined])
const operators: ReadonlySet<string | undefined> = new Set([';', '|', '&'])

/**
 * Splits the first command of a text into words. Words end at blanks; the command ends at `;`, `|`, `&` or the end.
 * `hasExpansion`: a word holds an expansion that a shell would replace.
 * @throws {@link UnreadableRequestError} For a quote that is not closed.
 */
function splitWords(text: string) {
  const words: string[] = []
  let hasExpansion = false
  let at = 0
  for (;;) {
    at = skipBlanks(text, at)
    if (at >= text.length || operators.has(text[at])) return { words, hasExpansion }
    const parts: string[] = []
    while (!wordEnds.has(text[at])) {
      const [part, end, isExpansion = false] = parsePart(text, at)
      parts.push(part)
      hasExpansion ||= isExpansion
      at = end
    }
    words.push(parts.join(''))
  }
}

function skipBlanks(text: string, start: number): number {
  let at = start
  for (;;) {
    if (text[at] === ' ' || text[at] === '\t') at++
    else if (text[at] === '\\' && /^\\\r?\n/.test(text.slice(at, at + 3))) at += text[at + 1] === '\r' ? 3 : 2
    // A shell ends the command here, but pasted commands often lose the backslash before a line end.
    else if (text[at] === '\n' || text[at] === '\r') at++
    else return at
  }
}

/** A part of a word, with the index after it. `hasExpansion`: a shell would replace something in it. */
type Part = readonly [text: string, end: number, hasExpansion?: boolean]

function parsePart(text: string, at: number): Part {
  const character = text[at] ?? ''
  const next = text[at + 1] ?? ''
  if (character === "'") {
    const end = text.indexOf("'", at + 1)
    if (end < 0) throw buildUnclosedError()
    return [text.slice(at + 1, end), end + 1]
  }
  if (character === '$' && next === "'") return parseAnsiQuoted(text, at + 2)
  if (character === '"') return parseDoubleQuoted(text, at + 1)
  if (character === '\\') return [next === '\n' ? '' : next, at + 2]
  return [character, at + 1, character === '$' || character === '`']
}

function parseDoubleQuoted(text: string, start: number): Part {
  const parts: string[] = []
  let hasExpansion = false
  for (let at = start; at < text.length; at++) {
    const character = text[at] ?? ''
    const next = text[at + 1] ?? ''
    if (character === '"') return [parts.join(''), at + 1, hasExpansion]
    if (character === '\\' && '$`"\\\n'.includes(next) && next !== '') {
      if (next !== '\n') parts.push(next)
      at++
      continue
    }
    hasExpansion ||= character === '`' || (character === '$' && /[A-Za-z_{(]/.test(next))
    parts.push(character)
  }
  throw buildUnclosedError()
}

const escapes: Readonly<Record<string, string>> = {
  ...{ n: '\n', r: '\r', t: '\t', a: '\x07', b: '\b', e: '\x1b', E: '\x1b', f: '\f', v: '\v' },
  ...{ '\\': '\\', "'": "'", '"': '"', '?': '?' },
}
/** Escapes with digits: hex, Unicode, octal. */
const numericEscape = /^\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([0-7]{1,3}))/

/** Decodes the content of `$'…'`. Escaped bytes above 0x7f are joined as UTF-8. */
function parseAnsiQuoted(text: string, start: number): Part {
  const encoder = new TextEncoder()
  const bytes: number[] = []
  const addText = (part: string) => {
    for (const byte of encoder.encode(part)) bytes.push(byte)
  }
  let plainFrom = start
  for (let at = start; at < text.length; ) {
    if (text[at] !== "'" && text[at] !== '\\') {
      at++
      continue
    }
    addText(text.slice(plainFrom, at))
    if (text[at] === "'") return [new TextDecoder().decode(Uint8Array.from(bytes)), at + 1]
    const next = text[at + 1] ?? ''
    const [sequence = '', hex, short, long, octal] = numericEscape.exec(text.slice(at, at + 10)) ?? []
    const code = Number.parseInt(hex ?? short ?? long ?? octal ?? '', octal === undefined ? 16 : 8)
    if (sequence === '') addText(escapes[next] ?? `\\${next}`)
    else if (hex !== undefined || octal !== undefined) bytes.push(code & 0xff)
    else addText(code > 0x10ffff ? '\ufffd' : String.fromCodePoint(code))
    at += sequence === '' ? 2 : sequence.length
    plainFrom = at
  }
  throw buildUnclosedError()
}

function buildUnclosedError(): UnreadableRequestError {
  return new UnreadableRequestError('curl', 'A quote of the curl command is not closed; paste the whole command.')
}

/** Long names of options that take a value and change neither headers nor body. */
const otherWithValue: ReadonlySet<string> = new Set([
  ...['--request', '--url', '--user', '--cookie', '--user-agent', '--referer', '--output', '--max-time', '--cacert'],
  ...['--connect-timeout', '--proxy', '--cert', '--key', '--resolve', '--retry', '--write-out', '--dump-header'],
  ...['--connect-to', '--interface', '--limit-rate', '--cookie-jar', '--proxy-header', '--unix-socket', '--ciphers'],
])
const shortNames: Readonly<Record<string, string>> = {
  ...{ X: '--request', u: '--user', b: '--cookie', A: '--user-agent', e: '--referer', o: '--output', m: '--max-time' },
  ...{ x: '--proxy', E: '--cert', w: '--write-out', D: '--dump-header', c: '--cookie-jar' },
  ...{ H: '--header', d: '--data', F: '--form', T: '--upload-file', K: '--config' },
}
const dataOptions: ReadonlySet<string> = new Set(['--data', '--data-ascii', '--data-raw', '--data-binary', '--json'])
const unreadable: Readonly<Record<string, string>> = {
  '--form': 'sends a multipart form, which the service never does',
  '--upload-file': 'reads a file; pass that file as the body (--body)',
  '--config': 'reads options from a file; paste the command with the options in it',
  '--data-urlencode': 'sends a URL-encoded form, which the service never does',
}

export function parseCurl(text: string, hasBody: boolean): ParsedRequest {
  if (/\^\r?\n|\^"/.test(text))
    throw new UnreadableRequestError('curl', 'The command is quoted for cmd.exe; copy it as cURL (bash) instead.')
  const { words, hasExpansion } = splitWords(text)
  const headers: HeaderPair[] = []
  const data: string[] = []
  for (const [name, value] of listOptions(words.slice(1))) {
    const reason = unreadable[name]
    if (reason !== undefined && !(hasBody && name !== '--config'))
      throw new UnreadableRequestError('curl', `${name} ${reason}.`)
    if (name === '--header') headers.push(...parseHeader(value))
    else if (dataOptions.has(name)) data.push(parseData(name, value, hasBody))
  }
  if (headers.length === 0) throw new UnreadableRequestError('curl', 'The curl command has no headers (-H).')
  const warnings = [
    ...(hasExpansion ? ['The command has a $ or ` that a shell would replace; it was taken as it is.'] : []),
    ...(data.length > 1 ? ['Several data options were joined with &, as curl does.'] : []),
  ]
  return { form: 'curl', headers, body: toUtf8(data.join('&')), warnings }
}

/** The options that have a value, by their long names; switches and URLs are omitted. */
function* listOptions(words: readonly string[]): Generator<readonly [name: string, value: string]> {
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? ''
    if (word.startsWith('--')) {
      const equals = word.indexOf('=')
      const name = equals < 0 ? word : word.slice(0, equals)
      if (!takesValue(name)) continue
      yield [name, equals < 0 ? (words[++at] ?? '') : word.slice(equals + 1)]
    } else if (word.startsWith('-')) {
      // Switches may precede an option, as in -sSH 'Name: value'; a value may follow directly, as in -HName:value.
      const index = [...word].findIndex((letter, place) => place > 0 && Object.hasOwn(shortNames, letter))
      if (index < 0) continue
      const rest = word.slice(index + 1)
      yield [shortNames[word[index] ?? ''] ?? '', rest === '' ? (words[++at] ?? '') : rest]
    }
  }
}

function takesValue(name: string): boolean {
  return name === '--header' || dataOptions.has(name) || otherWithValue.has(name) || Object.hasOwn(unreadable, name)
}

/** A header as curl sends it: `Name;` has no value, and `Name:` is not sent. */
function parseHeader(text: string): HeaderPair[] {
  if (text.startsWith('@'))
    throw new UnreadableRequestError('curl', '-H @file reads headers from a file; pass that file as the headers.')
  const at = text.indexOf(':')
  if (at < 0) return text.endsWith(';') ? [[text.slice(0, -1).trim(), '']] : []
  const value = text.slice(at + 1).trim()
  return value === '' ? [] : [[text.slice(0, at).trim(), value]]
}

function parseData(name: string, value: string, hasBody: boolean): string {
  if (!value.startsWith('@') || name === '--data-raw') return value
  if (hasBody) return ''
  throw new UnreadableRequestError(
    'curl',
    `${name} @file reads the body from a file, which is not opened here; pass that file as the body (--body).`,
  )
}
