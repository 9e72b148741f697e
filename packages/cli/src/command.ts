/** Declares command groups, shared options and examples of commands. @module */
import type { Command } from 'commander'
import type { ExitCode } from './io.js'
import { parseActor } from './parse.js'

/** Receives the exit code of the command that ran. */
export type Finish = (code: ExitCode) => void

/** Options of every command. */
interface GlobalOptions {
  readonly json?: true
  readonly debug?: true
}

/** The option of commands that open the database. */
export const databaseOption = ['--database <url>', 'sqlite:<path> or postgres://… (PI_DATABASE_URL)'] as const

/** The options of a command, with the global ones. */
export function optionsOf<T extends object>(command: Command): T & GlobalOptions {
  return command.optsWithGlobals<T & GlobalOptions>()
}

/** Examples for the end of a help text. */
export function examples(...lines: readonly string[]): string {
  return ['', 'Examples:', ...lines.map((line) => `  $ payment-integration ${line}`)].join('\n')
}

/** Adds the option of commands that the audit log records. */
export function withActor(command: Command): Command {
  return command.option('--actor <name>', 'who the audit log names (PI_ACTOR, default cli:<user>)', parseActor)
}

/**
 * Adds a group of commands, such as `accounts`, that work on the database.
 * @param about - The group's task, in words.
 * @param shown - Examples of the group's help.
 * @returns A function that adds a command to the group.
 */
export function addGroup(
  program: Command,
  noun: string,
  about: string,
  ...shown: readonly string[]
): (name: string, description: string) => Command {
  const group = program
    .command(noun)
    .summary(about)
    .description(`${about} (in the database that PI_DATABASE_URL names)`)
    .helpCommand(false)
    .addHelpText('after', examples(...shown))
  return (name, description) =>
    group
      .command(name)
      .description(description)
      .option(...databaseOption)
}
