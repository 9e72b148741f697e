/** `payment-integration audit …`: prints and verifies the audit log. @module */
import { type Command, Option } from 'commander'
import { addGroup, examples, type Finish, optionsOf } from '../command.js'
import { momentText } from '../format.js'
import type { ExitCode, Io } from '../io.js'
import { type ExpectedRecord, parseExpectedRecord, wholeNumberParser } from '../parse.js'
import { type OperateOptions, withService } from '../with-service.js'
import { type ListAuditOptions, listAudit, mostRecords } from './audit-list.js'
import { type VerifyAuditOptions, verifyAudit } from './audit-verify.js'

/** Adds the group and its commands. */
export function addAudit(program: Command, io: Io, finish: Finish): void {
  const verify = `audit verify --expect 12:${'9f2c'.repeat(16)}`
  const add = addGroup(
    program,
    'audit',
    'list and verify the audit log of changes to secrets, URLs, deliveries and verifications',
    'audit list',
    verify,
  )

  add('list', 'list the newest records, oldest first')
    .option('--limit <number>', 'print at most this many records (default 50)', wholeNumberParser(1, mostRecords))
    .option(
      '--after <number>',
      'print the records that follow this number in its audit chain',
      wholeNumberParser(0, Number.MAX_SAFE_INTEGER),
    )
    .addOption(new Option('--all', 'print all records').conflicts('limit'))
    .addHelpText('after', examples('audit list', 'audit list --after 100 --limit 20', 'audit list --all --json'))
    .action(async (_options, command) => finish(await listAudit(optionsOf<ListAuditOptions>(command), io)))
  add('head', 'print the newest record of each audit chain as <number>:<hash>, to store outside the database')
    .addHelpText('after', examples('audit head', 'audit head --json'))
    .action(async (_options, command) => finish(await auditHead(optionsOf<OperateOptions>(command), io)))
  add('verify', 'check that no record was changed, removed or inserted; exits with 1 and names the first bad record')
    .option(
      '--expect <number:hash>',
      'a record that audit head printed before, which must still be in the log; may be repeated',
      (text: string, others: readonly ExpectedRecord[] = []) => [...others, parseExpectedRecord(text)],
    )
    .addHelpText('after', examples('audit verify', verify))
    .action(async (_options, command) => finish(await verifyAudit(optionsOf<VerifyAuditOptions>(command), io)))
}

/** Prints number, hash and time of the newest record of each chain, for `audit verify --expect`. */
function auditHead(options: OperateOptions, io: Io): Promise<ExitCode> {
  return withService(options, io, async ({ audit }, report) => {
    const heads = await audit.heads()
    if (heads.length === 0) report({ event: 'audit.head', head: null }, () => ['The audit log is empty.'])
    for (const head of heads)
      report({ event: 'audit.head', head }, () => [`${head.seq}:${head.hash}  ${momentText(head.at)}`])
  })
}
