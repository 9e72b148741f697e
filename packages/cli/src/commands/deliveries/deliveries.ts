/** `payment-integration deliveries …`: prints and replays deliveries of notifications. @module */
import { type Command, Option } from 'commander'
import { addGroup, examples, type Finish, optionsOf, withActor } from '../../command.js'
import type { ExitCode, Io } from '../../io.js'
import { moment, parseAddress, parseChainId, parseDeliveryId, parseTxHash, wholeNumber } from '../../parse.js'
import { type OperateOptions, withService } from '../../with-service.js'
import { defaultLimit, type ListDeliveriesOptions, listDeliveries } from './list.js'
import { type ReplayFailedOptions, replayDelivery, replayFailed } from './replay.js'
import { deliveryText, endpointsText } from './text.js'

const idHelp = 'its id, as deliveries list shows it'
const statuses = ['pending', 'delivered', 'exhausted', 'superseded'] as const
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

  withFilters(add('list', 'print deliveries, oldest first, and how many are left out'), io)
    .addOption(new Option('--status <status>', 'where they stand').choices(statuses))
    .option('--limit <number>', `most that are printed (default ${defaultLimit})`, wholeNumber(1, 1_000_000))
    .option('--after <id>', 'begin behind this delivery', parseDeliveryId)
    .addOption(new Option('--all', 'print every one').conflicts('limit'))
    .addOption(new Option('--count', 'print how many fit, and nothing else').conflicts(['limit', 'all', 'after']))
    .addHelpText('after', examples(list, 'deliveries list --count --status pending', 'deliveries list --all --json'))
    .action(async (_options, command) => finish(await listDeliveries(optionsOf<ListDeliveriesOptions>(command), io)))
  add('show', 'print one delivery with every attempt')
    .argument('<id>', idHelp, parseDeliveryId)
    .addHelpText('after', examples('deliveries show 42', 'deliveries show 42 --json'))
    .action(async (id: string, _options, command) =>
      finish(await showDelivery(id, optionsOf<OperateOptions>(command), io)),
    )
  withActor(add('replay', 'make one delivery due now, whatever its status; a running server sends it'))
    .argument('<id>', idHelp, parseDeliveryId)
    .addHelpText('after', examples('deliveries replay 42'))
    .action(async (id: string, _options, command) =>
      finish(await replayDelivery(id, optionsOf<OperateOptions>(command), io)),
    )
  withActor(withFilters(add('replay-failed', 'make every exhausted delivery due that fits, without a cap'), io))
    .option('--all', 'every exhausted delivery')
    .option('--dry-run', 'tell how many they are and whose; change nothing')
    .addHelpText(
      'after',
      examples(dryRun, 'deliveries replay-failed --since 7d', 'deliveries replay-failed --all --json'),
    )
    .action(async (_options, command) => finish(await replayFailed(optionsOf<ReplayFailedOptions>(command), io)))
  add('endpoints', 'print endpoints that fail: how often in a row, since when, and until when they are blocked')
    .addHelpText('after', examples('deliveries endpoints'))
    .action(async (_options, command) => finish(await listEndpoints(optionsOf<OperateOptions>(command), io)))
}

/** The options that choose deliveries. */
function withFilters(command: Command, io: Io): Command {
  const parseMoment = moment(io.now)
  return command
    .option('--integration <address>', 'of this integration', parseAddress)
    .option('--chain <id>', 'of payments on this chain', (text) =>
      parseChainId(text, 'Expected a chain id in plain digits.'),
    )
    .option('--tx <hash>', 'of payments of this transaction', parseTxHash)
    .option('--since <time>', 'made then or later: 2026-03-01T09:30Z, or how long ago: 2h', parseMoment)
    .option('--until <time>', 'made before', parseMoment)
}

/** Prints a delivery with every attempt. @throws DeliveryError `ERR_DELIVERY_NOT_FOUND`. */
export function showDelivery(deliveryId: string, options: OperateOptions, io: Io): Promise<ExitCode> {
  return withService(options, io, async ({ deliveries }, report) => {
    const delivery = await deliveries.find(deliveryId)
    report({ event: 'delivery', delivery }, (event) => deliveryText(event.delivery))
  })
}

/** Prints every endpoint with failures in a row. With `json`, one object each and nothing when there is none. */
export function listEndpoints(options: OperateOptions, io: Io): Promise<ExitCode> {
  return withService(options, io, async ({ deliveries }, report) => {
    const endpoints = await deliveries.endpoints()
    if (options.json) for (const endpoint of endpoints) report({ event: 'endpoint', endpoint }, () => [])
    else if (endpoints.length === 0) io.out('No endpoint is failing.')
    else for (const line of endpointsText(endpoints)) io.out(line)
  })
}
