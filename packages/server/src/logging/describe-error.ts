/** Describes an error by its loggable parts. @module */

/**
 * The loggable parts of an error. Messages and other fields are left out: a driver's may hold values, URLs or
 * credentials.
 */
export interface ErrorDescription {
  readonly error: string
  readonly code: string | null
  /** The frames of the stack, without the message above them. */
  readonly stack: string
  /** Class and code of the errors that caused it, outermost first. */
  readonly causes: readonly string[]
}

/** Describes a thrown value by its class, code and stack frames. */
export function describeError(error: unknown): ErrorDescription {
  const causes: string[] = []
  let cause = error instanceof Error ? error.cause : undefined
  while (cause instanceof Error && causes.length < 5) {
    causes.push([className(cause), codeOf(cause)].filter((part) => part !== null).join(' '))
    cause = cause.cause
  }
  const frames = error instanceof Error ? (error.stack ?? '').split('\n').filter((line) => /^ {4}at /.test(line)) : []
  return { error: className(error), code: codeOf(error), stack: frames.slice(0, 10).join('\n'), causes }
}

function className(error: unknown): string {
  return error instanceof Error ? error.constructor.name : typeof error
}

function codeOf(error: unknown): string | null {
  const code = error instanceof Error ? (error as { code?: unknown }).code : undefined
  return typeof code === 'string' && /^[A-Z0-9_]{1,64}$/.test(code) ? code : null
}
