/** Parses a curl command: its headers and the bytes that it would send. Nothing is run and no file is read. @module */
import type { ParsedRequest } from './parsed-request.js'
import type { HeaderPair } from './read-headers.js'
import { RequestUnreadableError } from './request-error.js'
import { shellWords } from './shell-words.js'
import { toUtf8 } from './text-codes.js'

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

/**
 * Parses a curl command.
 * @param hasBody - Whether the body is passed apart, so that `@file` needs no file.
 */
export function parseCurl(text: string, hasBody: boolean): ParsedRequest {
  if (/\^\r?\n|\^"/.test(text))
    throw new RequestUnreadableError('curl', 'The command is quoted for cmd.exe; copy it as cURL (bash) instead.')
  const { words, hasExpansion } = shellWords(text)
  const headers: HeaderPair[] = []
  const data: string[] = []
  for (const [name, value] of optionsOf(words.slice(1))) {
    const reason = unreadable[name]
    if (reason !== undefined && !(hasBody && name !== '--config'))
      throw new RequestUnreadableError('curl', `${name} ${reason}.`)
    if (name === '--header') headers.push(...headerOf(value))
    else if (dataOptions.has(name)) data.push(dataOf(name, value, hasBody))
  }
  if (headers.length === 0) throw new RequestUnreadableError('curl', 'The curl command has no headers (-H).')
  const warnings = [
    ...(hasExpansion ? ['The command has a $ or ` that a shell would replace; it was taken as it is.'] : []),
    ...(data.length > 1 ? ['Several data options were joined with &, as curl does.'] : []),
  ]
  return { form: 'curl', headers, body: toUtf8(data.join('&')), recordedAt: null, warnings }
}

/** Options with a value, under their long names; switches and URLs are left out. */
function* optionsOf(words: readonly string[]): Generator<readonly [name: string, value: string]> {
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? ''
    if (word.startsWith('--')) {
      const equals = word.indexOf('=')
      const name = equals < 0 ? word : word.slice(0, equals)
      if (!takesValue(name)) continue
      yield [name, equals < 0 ? (words[++at] ?? '') : word.slice(equals + 1)]
    } else if (word.startsWith('-')) {
      // Switches may precede: -sSH 'Name: value', and the value may follow at once: -HName:value.
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
function headerOf(text: string): HeaderPair[] {
  if (text.startsWith('@'))
    throw new RequestUnreadableError('curl', '-H @file reads headers from a file; pass that file as the headers.')
  const at = text.indexOf(':')
  if (at < 0) return text.endsWith(';') ? [[text.slice(0, -1).trim(), '']] : []
  const value = text.slice(at + 1).trim()
  return value === '' ? [] : [[text.slice(0, at).trim(), value]]
}

function dataOf(name: string, value: string, hasBody: boolean): string {
  if (!value.startsWith('@') || name === '--data-raw') return value
  if (hasBody) return ''
  throw new RequestUnreadableError(
    'curl',
    `${name} @file reads the body from a file, which is not opened here; pass that file as the body (--body).`,
  )
}
