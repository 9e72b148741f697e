/** Ignores unknown fields and values of an answer, or warns of them, or throws. @module */
import type { UnknownPart } from '@payment-integration/contract'
import { InvalidResponseError } from '../errors.js'
import type { ClientWarning } from '../warning.js'
import { hideTexts } from './hide-texts.js'

/** Warns once of each unknown part, and of this many at most. */
const maxWarnings = 100
/** Longest shown part of a name or value of the answer. */
const shownCharacters = 64

/** Handles the unknown parts of one answer. @param secrets - Further texts that must not be shown. */
export type Watch = (unknownParts: readonly UnknownPart[], secrets: readonly string[]) => void

/** The caller's choice. */
export interface WatchOptions {
  readonly strict: boolean
  readonly onWarning: ((warning: ClientWarning) => void) | null
}

/** @param ownSecrets - Texts of the client that must not be shown. */
export function createWatch({ strict, onWarning }: WatchOptions, ownSecrets: readonly string[]): Watch {
  const warned = new Set<string>()
  return (unknownParts, secrets) => {
    if (unknownParts.length === 0 || (!strict && onWarning === null)) return
    for (const { kind, path, value: unknown } of unknownParts) {
      const show = (text: string) => hideTexts(text, [...ownSecrets, ...secrets]).slice(0, shownCharacters)
      const shownPath = path.map((part) => plain(show(part))).join('.')
      if (strict) throw new InvalidResponseError(kind === 'field' ? 'unknown_field' : 'unknown_value', 200, shownPath)
      const value = unknown === null ? null : show(unknown)
      const key = JSON.stringify([shownPath, value])
      if (warned.has(key) || warned.size === maxWarnings) continue
      warned.add(key)
      onWarning?.(warningOf(shownPath, value))
    }
  }
}

/** Quotes a part of a path, unless it looks like a field name: a hostile name must not forge a log line. */
function plain(part: string): string {
  return /^[\w*[\]-]+$/.test(part) ? part : quote(part)
}

/** Formats as a JSON string of printable ASCII. */
function quote(text: string): string {
  return JSON.stringify(text).replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

function warningOf(path: string, value: string | null): ClientWarning {
  const fact =
    value === null
      ? `The answer has a field that this version does not know: ${path}. It is kept.`
      : `${path} is ${quote(value)}, which this version does not know. It is passed on.`
  const message = `${fact} The service is newer than this package: update it.`
  return { kind: value === null ? 'unknown_field' : 'unknown_value', path, value, message }
}
