/** Groups of commands that operate a service on its database. @module */
import type { Command } from 'commander'
import { parseActor } from '../parse/actor.js'
import { examples } from './finish.js'

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
