/** A timing test on a machine too busy to tell. @module */
import type { TestContext } from 'vitest'

declare module 'vitest' {
  interface TaskMeta {
    /** The machine was too busy for the test to tell anything. CI counts and names such a test; it does not fail. */
    tooLoud?: string
  }
}

/** Ends a timing test without a verdict. @param measured - The noise, in words. */
export function tooLoud({ task, skip }: TestContext, measured: string): never {
  task.meta.tooLoud = measured
  return skip(`too loud to tell: ${measured}`)
}
