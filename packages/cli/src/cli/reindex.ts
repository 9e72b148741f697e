/** `reindex` on the command line. @module */
import type { Command } from 'commander'
import { type ReindexOptions, reindexChain } from '../commands/reindex.js'
import type { Io } from '../io.js'
import { parseChainId } from '../parse/chain-id.js'
import { wholeNumber } from '../parse/whole-number.js'
import { parseEndpoint } from '../reindex/choose-endpoints.js'
import { examples, type Finish, optionsOf } from './finish.js'

const height = wholeNumber(0, Number.MAX_SAFE_INTEGER)

/** Adds the command. */
export function addReindex(program: Command, io: Io, finish: Finish): void {
  program
    .command('reindex')
    .description('read blocks of a chain again, prove them, and repair what is stored otherwise')
    .requiredOption('--chain <id>', 'chain id', (text) => parseChainId(text, 'Expected a chain id in plain digits.'))
    .requiredOption('--from <block>', 'first block', height)
    .option('--to <block>', 'last block (default: as far as the chain is indexed)', height)
    .option('--endpoint <url|number>', 'read from this node, or the configured one at this position', parseEndpoint)
    .option('--dry-run', 'write nothing; end 1 when something differs')
    .option('--database <url>', 'sqlite:<path> or postgres://… (PI_DATABASE_URL)')
    .addHelpText(
      'after',
      examples('reindex --chain 137 --from 58000000 --endpoint 2 --dry-run', 'reindex --chain 1 --from 100 --to 200'),
    )
    .action(async (_options, command) => finish(await reindexChain(optionsOf<ReindexOptions>(command), io)))
}
