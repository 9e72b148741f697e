/** How a command hands back its exit code. @module */
import type { Command } from 'commander'
import type { ExitCode } from '../io.js'

/** Takes the exit code of the command that ran. */
export type Finish = (code: ExitCode) => void

/** Options that every command has. */
export interface GlobalOptions {
  readonly json?: true
  readonly debug?: true
}

/** A command's own options with the global ones. */
export function optionsOf<T extends object>(command: Command): T & GlobalOptions {
  return command.optsWithGlobals<T & GlobalOptions>()
}

/** Examples for the end of a command's help. */
export function examples(...lines: readonly string[]): string {
  return ['', 'Examples:', ...lines.map((line) => `  $ payment-integration ${line}`)].join('\n')
}
