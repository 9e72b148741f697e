/** `audit …` on the command line. @module */
import { type Command, Option } from 'commander'
import { auditHead } from '../commands/audit/head.js'
import { type ListAuditOptions, listAudit } from '../commands/audit/list.js'
import { type VerifyAuditOptions, verifyAudit } from '../commands/audit/verify.js'
import type { OperateOptions } from '../commands/with-service.js'
import type { Io } from '../io.js'
import { parseKeptRecord } from '../parse/kept-record.js'
import { wholeNumber } from '../parse/whole-number.js'
import { examples, type Finish, optionsOf } from './finish.js'
import { addGroup } from './group.js'

/** Adds the group and its commands. */
export function addAudit(program: Command, io: Io, finish: Finish): void {
  const verify = `audit verify --expect 12:${'9f2c'.repeat(16)}`
  const add = addGroup(
    program,
    'audit',
    'read and check the log of who changed secrets, URLs, deliveries and verifications',
    'audit list',
    verify,
  )

  add('list', 'print the newest records, in their order')
    .option('--limit <number>', 'most that are printed (default 50)', wholeNumber(1, 1_000_000))
    .option('--after <number>', 'the records behind this one', wholeNumber(0, Number.MAX_SAFE_INTEGER))
    .addOption(new Option('--all', 'print every record').conflicts('limit'))
    .addHelpText('after', examples('audit list', 'audit list --after 100 --limit 20', 'audit list --all --json'))
    .action(async (_options, command) => finish(await listAudit(optionsOf<ListAuditOptions>(command), io)))
  add('head', 'print the newest record, as number:hash with its time, to be kept outside the database')
    .addHelpText('after', examples('audit head', 'audit head --json'))
    .action(async (_options, command) => finish(await auditHead(optionsOf<OperateOptions>(command), io)))
  add('verify', 'check that no record was altered, taken out or put in; ends 1 and says where when one was')
    .option('--expect <number:hash>', 'a record that was kept elsewhere, which must be there', parseKeptRecord)
    .addHelpText('after', examples('audit verify', verify))
    .action(async (_options, command) => finish(await verifyAudit(optionsOf<VerifyAuditOptions>(command), io)))
}
