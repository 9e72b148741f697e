/** What is done about parts of an answer that this version does not know: nothing, a warning, or an error. @module */
import type { UnknownPart } from '@payment-integration/contract'
import { InvalidResponseError } from '../errors.js'
import type { ClientWarning } from '../warning.js'
import { hideTexts } from './hide-texts.js'

/** Warns once of each unknown part; keeps this many to know, and is silent about more. */
const keptKinds = 100
/** Characters of a name or a word that come from the answer. */
const shownCharacters = 64

/** Looks at the unknown parts of one answer. @param secrets - Further texts that must not be shown. */
export type Watch = (unknownParts: readonly UnknownPart[], secrets: readonly string[]) => void

/** What a caller chose. */
export interface WatchOptions {
  readonly strict: boolean
  readonly onWarning: ((warning: ClientWarning) => void) | null
}

/** @param ownSecrets - Texts of the client that must not be shown. */
export function createWatch({ strict, onWarning }: WatchOptions, ownSecrets: readonly string[]): Watch {
  const told = new Set<string>()
  return (unknownParts, secrets) => {
    if (unknownParts.length === 0 || (!strict && onWarning === null)) return
    for (const { kind, path, value: unknown } of unknownParts) {
      const show = (text: string) => hideTexts(text, [...ownSecrets, ...secrets]).slice(0, shownCharacters)
      const shownPath = path.map((part) => plain(show(part))).join('.')
      if (strict) throw new InvalidResponseError(kind === 'field' ? 'unknown_field' : 'unknown_value', 200, shownPath)
      const value = unknown === null ? null : show(unknown)
      const key = JSON.stringify([shownPath, value])
      if (told.has(key) || told.size === keptKinds) continue
      told.add(key)
      onWarning?.(warningOf(shownPath, value))
    }
  }
}

/** A part of a path, as it is when it could be a name of ours, and in quotes when not: a log line must not end, or mean more, where a name wants it. */
function plain(part: string): string {
  return /^[\w*[\]-]+$/.test(part) ? part : quote(part)
}

/** As a text of JSON, of printable ASCII alone. */
function quote(text: string): string {
  return JSON.stringify(text).replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

function warningOf(path: string, value: string | null): ClientWarning {
  const update = 'The service is newer than this package: update it.'
  return value === null
    ? {
        kind: 'unknown_field',
        path,
        value,
        message: `The answer has a field that this version does not know: ${path}. It is kept. ${update}`,
      }
    : {
        kind: 'unknown_value',
        path,
        value,
        message: `${path} is ${quote(value)}, which this version does not know. It is passed on. ${update}`,
      }
}
