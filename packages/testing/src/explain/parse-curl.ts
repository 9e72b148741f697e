/** Parses headers and body of a curl command, without running it or reading files. @module */
import { UnreadableRequestError } from '../errors.js'
import type { HeaderPair, ParsedRequest } from './explain-input.js'
import { toUtf8 } from './undo.js'

/** A piece of a command: blanks, its end, a continued line, a quote that opens, or a character, escaped or not. */
const piece = /[ \t\r\n]+|[;|&]|\\\r?\n|\$?'|"|\\?[\s\S]/y

/** Decoders of quoted texts by the quote that opens. */
const decoders: Readonly<Record<string, (quoted: string) => string>> = {
  "'": (quoted) => quoted,
  '"': (quoted) => quoted.replace(/\\([$`"\\\n])/g, (_, character) => (character === '\n' ? '' : character)),
  "$'": decodeAnsi,
}

/**
 * Splits the first command of a text into words. Words end at blanks; the command ends at `;`, `|`, `&` or the end.
 * A shell ends the command at a line end, too, but pasted commands often lose the backslash before it.
 * `hasExpansion`: a word holds an expansion that a shell would replace.
 * @throws {@link UnreadableRequestError} For a quote that is not closed.
 */
function splitWords(text: string) {
  const words: string[] = []
  /** Null between two words; an empty text is an empty word, as in `''`. */
  let word: string | null = null
  let hasExpansion = false
  for (let at = 0; at < text.length; ) {
    piece.lastIndex = at
    const [token = ''] = piece.exec(text) ?? []
    const decode = decoders[token]
    const isEnd = /^[;|&]/.test(token)
    const isBlank = /^[ \t\r\n]/.test(token)
    const isContinuedLine = /^\\\r?\n/.test(token)
    at += token.length
    if (isEnd) break
    if (isBlank) {
      if (word !== null) words.push(word)
      word = null
    } else if (decode !== undefined) {
      const end = token === "'" ? text.indexOf("'", at) : findClosingQuote(text, at, token.slice(-1))
      if (end < 0)
        throw new UnreadableRequestError('curl', 'A quote of the curl command is not closed; paste the whole command.')
      const quoted = text.slice(at, end)
      word = `${word ?? ''}${decode(quoted)}`
      hasExpansion ||= token === '"' && /`|\$[A-Za-z_{(]/.test(quoted.replace(/\\[\s\S]/g, ' '))
      at = end + 1
    } else if (!isContinuedLine) {
      word = `${word ?? ''}${token.replace(/^\\/, '')}`
      hasExpansion ||= token === '$' || token === '`'
    }
  }
  if (word !== null) words.push(word)
  return { words, hasExpansion }
}

/** The index of the first quote that no backslash escapes, or -1. */
function findClosingQuote(text: string, from: number, quote: string): number {
  for (let at = from; at < text.length; at++) {
    if (text[at] === quote) return at
    if (text[at] === '\\') at++
  }
  return -1
}

const escapes: Readonly<Record<string, string>> = {
  n: '\n',
  r: '\r',
  t: '\t',
  a: '\x07',
  b: '\b',
  e: '\x1b',
  E: '\x1b',
  f: '\f',
  v: '\v',
  '\\': '\\',
  "'": "'",
  '"': '"',
  '?': '?',
}
/** A plain text; an escaped byte in hex or octal; an escaped code point; or another escape. */
const ansiPart = /[^\\]+|\\(?:x([0-9a-fA-F]{1,2})|([0-7]{1,3})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([\s\S]))/g

/** Decodes the content of `$'…'`. Escaped bytes above 0x7f are joined as UTF-8. */
function decodeAnsi(quoted: string): string {
  const bytes: number[] = []
  for (const [part, hex, octal, short, long, letter] of quoted.matchAll(ansiPart)) {
    if (hex !== undefined) bytes.push(Number.parseInt(hex, 16))
    else if (octal !== undefined) bytes.push(Number.parseInt(octal, 8) & 0xff)
    else {
      const code = Number.parseInt(short ?? long ?? '', 16)
      let decoded = letter === undefined ? part : (escapes[letter] ?? part)
      if (!Number.isNaN(code)) decoded = code > 0x10ffff ? '\ufffd' : String.fromCodePoint(code)
      for (const byte of toUtf8(decoded)) bytes.push(byte)
    }
  }
  return new TextDecoder().decode(Uint8Array.from(bytes))
}

/** Long names of options that take a value and change neither headers nor body. */
const otherWithValue: ReadonlySet<string> = new Set(
  (
    '--request --url --user --cookie --user-agent --referer --output --max-time --cacert --connect-timeout --proxy ' +
    '--cert --key --resolve --retry --write-out --dump-header --connect-to --interface --limit-rate --cookie-jar ' +
    '--proxy-header --unix-socket --ciphers'
  ).split(' '),
)
/** Letters of such options. */
const otherLetters = 'XubAeomxEwDc'
/** The long names of the other letters with a value. */
const longNames = new Map(
  Object.entries({ H: '--header', d: '--data', F: '--form', T: '--upload-file', K: '--config' }),
)
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

/** The options that have a value, by long names, else an empty name; switches and URLs are omitted. */
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
      const index = [...word].findIndex((letter, position) => position > 0 && letterTakesValue(letter))
      if (index < 0) continue
      const attached = word.slice(index + 1)
      yield [longNames.get(word[index] ?? '') ?? '', attached === '' ? (words[++at] ?? '') : attached]
    }
  }
}

const letterTakesValue = (letter: string) => longNames.has(letter) || otherLetters.includes(letter)

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
