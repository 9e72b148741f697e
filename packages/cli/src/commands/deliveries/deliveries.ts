/** `payment-integration deliveries …`: prints and replays deliveries of notifications. @module */
import { type Command, Option } from 'commander'
import { addGroup, examples, type Finish, optionsOf, withActor } from '../../command.js'
import type { ExitCode, Io } from '../../io.js'
import { parseDeliveryId, wholeNumberParser } from '../../parse.js'
import { type OperateOptions, withService } from '../../with-service.js'
import { type CheckOptions, checkDeliveries } from './check.js'
import { withFilters } from './filter.js'
import { defaultLimit, type ListDeliveriesOptions, listDeliveries } from './list.js'
import { type ReplayFailedOptions, replayDelivery, replayFailed } from './replay.js'
import { deliveryText, endpointsText } from './text.js'

const idHelp = 'id of the delivery, as deliveries list prints it'
const statuses = ['pending', 'delivered', 'exhausted', 'superseded', 'missing'] as const
const exampleAddress = `0x${'a1'.repeat(20)}`

/** Adds the group and its commands. */
export function addDeliveries(program: Command, io: Io, finish: Finish): void {
  const list = 'deliveries list --status exhausted --since 2h'
  const dryRun = `deliveries replay-failed --integration ${exampleAddress} --dry-run`
  const add = addGroup(
    program,
    'deliveries',
    'list and replay deliveries of notifications',
    list,
    'deliveries show 42',
    dryRun,
  )

  withFilters(add('list', 'list deliveries, oldest first'), io)
    .addOption(new Option('--status <status>', 'only deliveries with this status').choices(statuses))
    .option(
      '--limit <number>',
      `print at most this many deliveries (default ${defaultLimit})`,
      wholeNumberParser(1, 1_000_000),
    )
    .option('--after <id>', 'start after the delivery with this id', parseDeliveryId)
    .addOption(new Option('--all', 'print all deliveries').conflicts('limit'))
    .addOption(
      new Option('--count', 'print only the number of matching deliveries').conflicts(['limit', 'all', 'after']),
    )
    .addHelpText('after', examples(list, 'deliveries list --count --status pending', 'deliveries list --all --json'))
    .action(async (_options, command) => finish(await listDeliveries(optionsOf<ListDeliveriesOptions>(command), io)))
  add('show', 'show one delivery with all its attempts')
    .argument('<id>', idHelp, parseDeliveryId)
    .addHelpText('after', examples('deliveries show 42', 'deliveries show 42 --json'))
    .action(async (id: string, _options, command) =>
      finish(await showDelivery(id, optionsOf<OperateOptions>(command), io)),
    )
  withActor(add('replay', 'make one delivery due now, whatever its status; the running server sends it'))
    .argument('<id>', idHelp, parseDeliveryId)
    .addHelpText('after', examples('deliveries replay 42'))
    .action(async (id: string, _options, command) =>
      finish(await replayDelivery(id, optionsOf<OperateOptions>(command), io)),
    )
  withActor(withFilters(add('replay-failed', 'make all matching exhausted deliveries due now'), io))
    .option('--all', 'replay every exhausted delivery')
    .option('--dry-run', 'print the number of deliveries for each integration; change nothing')
    .addHelpText(
      'after',
      examples(dryRun, 'deliveries replay-failed --since 7d', 'deliveries replay-failed --all --json'),
    )
    .action(async (_options, command) => finish(await replayFailed(optionsOf<ReplayFailedOptions>(command), io)))
  withActor(add('check', 'find deliveries that are missing after a restore: neither sent nor in the outbox'))
    .option('--repair', 'make them due again; the running server sends them')
    .addHelpText('after', examples('deliveries check', 'deliveries check --repair', 'deliveries list --status missing'))
    .action(async (_options, command) => finish(await checkDeliveries(optionsOf<CheckOptions>(command), io)))
  add('endpoints', 'list failing endpoints: failures in a row, since when, and blocked until when')
    .addHelpText('after', examples('deliveries endpoints'))
    .action(async (_options, command) => finish(await listEndpoints(optionsOf<OperateOptions>(command), io)))
}

/** Prints a delivery with all its attempts. @throws DeliveryError `ERR_DELIVERY_NOT_FOUND`. */
function showDelivery(deliveryId: string, options: OperateOptions, io: Io): Promise<ExitCode> {
  return withService(options, io, async ({ deliveries }, report) => {
    const delivery = await deliveries.find(deliveryId)
    report({ event: 'delivery', delivery }, (event) => deliveryText(event.delivery))
  })
}

/** Prints failing endpoints. With `json`, prints one object each, or nothing. */
function listEndpoints(options: OperateOptions, io: Io): Promise<ExitCode> {
  return withService(options, io, async ({ deliveries }, report) => {
    const endpoints = await deliveries.endpoints()
    if (options.json) for (const endpoint of endpoints) report({ event: 'endpoint', endpoint }, () => [])
    else if (endpoints.length === 0) io.out('No endpoint is failing.')
    else for (const line of endpointsText(endpoints)) io.out(line)
  })
}
