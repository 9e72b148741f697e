/** `deliveries …` on the command line. @module */
import { type Command, Option } from 'commander'
import { defaultLimit, type ListDeliveriesOptions, listDeliveries } from '../commands/deliveries/list.js'
import { replayDelivery } from '../commands/deliveries/replay.js'
import { type ReplayFailedOptions, replayFailed } from '../commands/deliveries/replay-failed.js'
import { listEndpoints, showDelivery } from '../commands/deliveries/show.js'
import type { OperateOptions } from '../commands/with-service.js'
import type { Io } from '../io.js'
import { parseAddress } from '../parse/address.js'
import { parseChainId } from '../parse/chain-id.js'
import { parseDeliveryId } from '../parse/delivery-id.js'
import { moment } from '../parse/moment.js'
import { parseTxHash } from '../parse/tx-hash.js'
import { wholeNumber } from '../parse/whole-number.js'
import { examples, type Finish, optionsOf } from './finish.js'
import { addGroup, withActor } from './group.js'

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
