/** The suite's own assertions, so that it needs no test runner. @module */

/** A store did not do what its port promises. */
export class ConformanceError extends Error {
  override readonly name = 'ConformanceError'
}

/** @throws {@link ConformanceError} When the values differ; arrays and plain objects are compared by their members. */
export function equal(actual: unknown, expected: unknown, about = ''): void {
  const [is, should] = [textOf(actual), textOf(expected)]
  if (is !== should) fail(`expected ${should}, got ${is}`, about)
}

/** @throws {@link ConformanceError} When the condition does not hold. */
export function holds(condition: boolean, about: string): void {
  if (!condition) fail('this does not hold', about)
}

/** Waits for a failure and gives its reason. @throws {@link ConformanceError} When the promise resolves. */
export async function reasonOf(promise: Promise<unknown>, about = ''): Promise<unknown> {
  let value: unknown
  try {
    value = await promise
  } catch (reason) {
    return reason
  }
  return fail(`expected a failure, got ${textOf(value)}`, about)
}

/** Waits for a failure and gives the name of its error, whose class may be one of another realm. */
export async function nameOfReason(promise: Promise<unknown>): Promise<unknown> {
  return (Object(await reasonOf(promise)) as Partial<Error>).name
}

function fail(what: string, about: string): never {
  throw new ConformanceError(about === '' ? what : `${about}: ${what}`)
}

/** JSON, in which `undefined` and the numbers that JSON lacks have a text too. */
function textOf(value: unknown): string {
  const spell = (_: string, part: unknown) =>
    part === undefined || typeof part === 'bigint' || (typeof part === 'number' && !Number.isFinite(part))
      ? `(${typeof part} ${String(part)})`
      : part
  return JSON.stringify(value, spell)
}
