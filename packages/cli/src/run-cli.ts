/** From arguments to an exit code. @module */
import { CommanderError } from 'commander'
import { describeError } from './describe-error.js'
import type { ExitCode, Io } from './io.js'
import { createProgram, isAnswer } from './program.js'

/**
 * Runs the command that `args` name.
 * @param args - What follows the command's own name.
 * @returns 0 done, 1 failed, 2 misused. It does not throw: errors become one or two sentences on standard error.
 */
export async function runCli(args: readonly string[], io: Io): Promise<ExitCode> {
  let exitCode: ExitCode = 0
  const program = createProgram(io, (code) => {
    exitCode = code
  })
  try {
    await program.parseAsync(args, { from: 'user' })
    return exitCode
  } catch (error) {
    if (error instanceof CommanderError) return isAnswer(error) ? 0 : 2
    const described = describeError(error, args.includes('--debug'))
    for (const line of described.lines) io.err(line)
    return described.exitCode
  }
}
