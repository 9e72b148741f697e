/** The sentence that goes with a secret. @module */

/** Says that secrets cannot be read again. `subject` includes the verb, `The key is`; `them` stands for what is kept. */
export function shownOnce(subject: string, them: 'it' | 'them' = 'it'): string {
  return `${subject} shown this once and never again: keep ${them} safe now.`
}
