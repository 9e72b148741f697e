/** Checks arguments and hides secrets. No message repeats a text: it could be a misplaced secret. @module */

/** A whole number in a range. The error names the argument. */
export function checkInteger(name: string, value: unknown, min: number, max: number): number {
  if (typeof value !== 'number') throw new TypeError(`${name} is of type ${typeof value}; pass a whole number.`)
  if (!Number.isSafeInteger(value) || value < min || value > max)
    throw new RangeError(`${name} is ${value}; pass a whole number from ${min} to ${max}.`)
  return value
}

/** Rejects a value that is not an object, for callers in JavaScript, whom no type stops. */
export function checkObject(method: string, value: object, fields: string): void {
  if (typeof value !== 'object' || value === null)
    throw new TypeError(`${method} got ${value === null ? 'null' : typeof value}; pass an object with ${fields}.`)
}

/** A 20-byte hex address, lowercased. */
export function checkAddress(name: string, value: unknown): string {
  if (typeof value !== 'string' || !/^0x[0-9a-fA-F]{40}$/.test(value))
    throw new TypeError(`${name} is not an address; pass 0x and 40 hex digits.`)
  return value.toLowerCase()
}

export function isTxHash(value: unknown): value is string {
  return typeof value === 'string' && /^0x[0-9a-fA-F]{64}$/.test(value)
}

/** A transaction hash, lowercased. */
export function checkTxHash(value: unknown): string {
  if (!isTxHash(value)) throw new TypeError('txHash is not a transaction hash; pass 0x and 64 hex digits.')
  return value.toLowerCase()
}

/** A text that is not blank and has no white space around it, which files and forms tend to add. */
export function checkText(name: string, value: unknown): string {
  if (typeof value !== 'string' || value.trim() === '')
    throw new TypeError(`${name} is missing or blank; pass a text. Is its variable set?`)
  if (value !== value.trim()) throw new TypeError(`${name} begins or ends with white space; trim it.`)
  return value
}

/** Checks the shape, not the class: a signal may come from another realm or a polyfill. */
export function checkSignal(signal: AbortSignal | undefined): AbortSignal | undefined {
  if (signal !== undefined && (typeof signal?.aborted !== 'boolean' || typeof signal.addEventListener !== 'function'))
    throw new TypeError('signal is not an AbortSignal; pass the signal of an AbortController.')
  return signal
}

/** Replaces each of `secrets` by `[hidden]`, plain or encoded as in a URL or JSON, in any case. Ignores empty texts. */
export function hideTexts(text: string, secrets: readonly string[]): string {
  const spellings = secrets
    .filter((each) => each !== '')
    .flatMap((each) => [each, encodeForUrl(each), JSON.stringify(each).slice(1, -1)])
  if (spellings.length === 0) return text
  // Longest first: a shorter secret that begins alike would leave the end of the longer one visible.
  const patterns = spellings
    .sort((a, b) => b.length - a.length)
    .map((each) => each.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'))
  return text.replace(new RegExp(patterns.join('|'), 'giu'), '[hidden]')
}

/** Unlike encodeURIComponent, this accepts half a surrogate pair. */
function encodeForUrl(text: string): string {
  return new URLSearchParams({ '': text }).toString().slice(1)
}
