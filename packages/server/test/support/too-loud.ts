/** Ends a timing test on a machine that is too busy. @module */
import type { TestContext } from 'vitest'

declare module 'vitest' {
  interface TaskMeta {
    /** The machine was too busy for a verdict. CI counts and names such a test; it does not fail. */
    tooLoud?: string
  }
}

/** Ends a timing test without a verdict. @param measured - The noise, in words. */
export function tooLoud({ task, skip }: TestContext, measured: string): never {
  task.meta.tooLoud = measured
  return skip(`too loud to tell: ${measured}`)
}
