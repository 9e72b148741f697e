/** `accounts …` on the command line. @module */
import type { Command } from 'commander'
import { type ChangeAccountOptions, changeAccount } from '../commands/accounts/change.js'
import { type CreateAccountOptions, createAccount } from '../commands/accounts/create.js'
import { listAccounts, showAccount } from '../commands/accounts/list.js'
import { removeAccount } from '../commands/accounts/remove.js'
import type { OperateOptions } from '../commands/with-service.js'
import type { Io } from '../io.js'
import { parseAcceptedTokens } from '../parse/accepted-tokens.js'
import { parseAddress } from '../parse/address.js'
import { parseChainAddress } from '../parse/chain-address.js'
import { parseDuration } from '../parse/duration.js'
import { examples, type Finish, optionsOf } from './finish.js'
import { addGroup } from './group.js'

const handleHelp = "the account's handle, such as shop"
const addressHelp = 'where payments go: 0x and 40 hex digits'
const exampleAddress = `0x${'c3'.repeat(20)}`
const exampleCreate = `accounts create shop --address ${exampleAddress} --accept 137:USDC,USDT --accept 1:USDC`

/** Adds the group and its commands. */
export function addAccounts(program: Command, io: Io, finish: Finish): void {
  const add = addGroup(
    program,
    'accounts',
    'manage accounts and their link configurations',
    'accounts list',
    exampleCreate,
  )

  withConfigFlags(add('create', 'create an account: a handle, an address, and what its payment link accepts'))
    .argument('<handle>', handleHelp)
    .requiredOption('--address <address>', addressHelp, parseAddress)
    .addHelpText(
      'after',
      examples(exampleCreate, `accounts create shop --address ${exampleAddress} --config link.json`),
    )
    .action(async (handle: string, _options, command) =>
      finish(await createAccount(handle, optionsOf<CreateAccountOptions>(command), io)),
    )
  add('list', 'print every account')
    .addHelpText('after', examples('accounts list --json'))
    .action(async (_options, command) => finish(await listAccounts(optionsOf<OperateOptions>(command), io)))
  add('show', 'print one account')
    .argument('<handle>', handleHelp)
    .addHelpText('after', examples('accounts show shop'))
    .action(async (handle: string, _options, command) =>
      finish(await showAccount(handle, optionsOf<OperateOptions>(command), io)),
    )
  withConfigFlags(add('change', "replace an account's address, its whole link configuration, or both"))
    .argument('<handle>', handleHelp)
    .option('--address <address>', addressHelp, parseAddress)
    .addHelpText(
      'after',
      examples(`accounts change shop --address ${exampleAddress}`, 'accounts change shop --config -'),
    )
    .action(async (handle: string, _options, command) =>
      finish(await changeAccount(handle, optionsOf<ChangeAccountOptions>(command), io)),
    )
  add('remove', 'remove an account')
    .argument('<handle>', handleHelp)
    .addHelpText('after', examples('accounts remove shop'))
    .action(async (handle: string, _options, command) =>
      finish(await removeAccount(handle, optionsOf<OperateOptions>(command), io)),
    )
}

/** The flags of a link configuration. */
function withConfigFlags(command: Command): Command {
  return command
    .option('--config <file>', 'the link configuration as JSON; - reads standard input')
    .option(
      '--accept <chainId:symbols>',
      'tokens that are accepted on a chain, such as 137:USDC,USDT; may be repeated',
      parseAcceptedTokens,
    )
    .option(
      '--default-address <chainId:address>',
      'where payments on that chain go; may be repeated',
      parseChainAddress,
    )
    .option('--redirect <url>', 'send the payer there afterwards')
    .option('--close-after <duration>', "close the payer's window afterwards", parseDuration)
}
