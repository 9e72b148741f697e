/** How commands are declared: groups, shared options, examples, exit codes. @module */
import type { Command } from 'commander'
import type { ExitCode } from './io.js'
import { parseActor } from './parse.js'

/** Adds the option that a command has when the audit log records what it does. */
export function withActor(command: Command): Command {
  return command.option('--actor <name>', 'whom the audit log names (PI_ACTOR, default cli:<user>)', parseActor)
}

/**
 * Adds a group such as `accounts` with its examples.
 * @param about - What it does, in words.
 * @returns A function that adds a command to it, with the option that every one of them has.
 */
export function addGroup(
  program: Command,
  noun: string,
  about: string,
  ...shown: readonly string[]
): (name: string, description: string) => Command {
  const group = program
    .command(noun)
    .description(`${about} in the database that PI_DATABASE_URL names`)
    .helpCommand(false)
    .addHelpText('after', examples(...shown))
  return (name, description) =>
    group
      .command(name)
      .description(description)
      .option('--database <url>', 'sqlite:<path> or postgres://… (PI_DATABASE_URL)')
}

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
