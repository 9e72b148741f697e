/** Small helpers of the programs. @module */

/** The verdict of a promise: `ok` with its value, or the error's code, or its name without a code. */
export function getVerdict(promise) {
  return promise.then(
    (value) => ({ verdict: 'ok', value }),
    (error) => ({ verdict: String(error?.code ?? error), value: undefined }),
  )
}

/** The bytes of a base64 text. */
export function toBytes(base64) {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
}
