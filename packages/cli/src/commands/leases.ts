/** `payment-integration leases …`: who works on a chain, and releasing the lease of a dead process. @module */
import type { LeaseView } from '@payment-integration/core'
import type { Command } from 'commander'
import { addGroup, examples, type Finish, optionsOf, withActor } from '../command.js'
import { plain } from '../format.js'
import type { ExitCode, Io } from '../io.js'
import { type OperateOptions, withService } from '../with-service.js'

/** Adds the group and its commands. */
export function addLeases(program: Command, io: Io, finish: Finish): void {
  const description = 'list and release the leases by which one process at a time does a piece of work'
  const add = addGroup(program, 'leases', description, 'leases list', 'leases release indexer:137')
  add('list', 'list all leases, their holders and how long they last')
    .addHelpText('after', examples('leases list --json'))
    .action(async (_options, command) => finish(await listLeases(optionsOf<OperateOptions>(command), io)))
  withActor(add('release', 'release a lease whose holder is dead; another process takes it at once'))
    .argument('<name>', 'name of the lease, as leases list prints it')
    .addHelpText('after', examples('leases release indexer:137'))
    .action(async (name: string, _options, command) =>
      finish(await releaseLease(name, optionsOf<OperateOptions>(command), io)),
    )
}

function listLeases(options: OperateOptions, io: Io): Promise<ExitCode> {
  return withService(options, io, async ({ leases }, report) => {
    const all = await leases.list()
    if (all.length === 0 && !options.json) io.out('No process has a lease.')
    for (const lease of all) report({ event: 'lease', lease }, (event) => [leaseLine(event.lease)])
  })
}

function releaseLease(name: string, options: OperateOptions, io: Io): Promise<ExitCode> {
  return withService(options, io, async ({ leases }, report) => {
    const lease = await leases.release(name)
    if (lease === null)
      throw new RangeError(`There is no lease ${JSON.stringify(name)}; leases list prints those there are.`)
    report({ event: 'lease.released', lease }, (event) => [`Released ${plain(event.lease.name)}.`])
  })
}

function leaseLine({ name, holder, endsInMs }: LeaseView): string {
  const end = endsInMs > 0 ? `ends in ${Math.ceil(endsInMs / 1_000)} s` : 'ended'
  return `${plain(name)}  ${plain(holder)}  ${end}`
}
