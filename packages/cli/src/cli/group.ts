/** Groups of commands that operate a service on its database. @module */
import type { Command } from 'commander'
import { examples } from './finish.js'

/**
 * Adds a group such as `accounts` with its examples.
 * @param things - What it manages, in words.
 * @returns A function that adds a command to it, with the option that every one of them has.
 */
export function addGroup(
  program: Command,
  noun: string,
  things: string,
  ...shown: readonly string[]
): (name: string, description: string) => Command {
  const group = program
    .command(noun)
    .description(`manage ${things} in the database that PI_DATABASE_URL names`)
    .helpCommand(false)
    .addHelpText('after', examples(...shown))
  return (name, description) =>
    group
      .command(name)
      .description(description)
      .option('--database <url>', 'sqlite:<path> or postgres://… (PI_DATABASE_URL)')
}
