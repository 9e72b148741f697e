/** `payment-integration migrate …`: changes the schema in steps, while releases run side by side. @module */
import type { SchemaProgress, SchemaStep, Store } from '@payment-integration/core/ports'
import type { Command } from 'commander'
import { addGroup, examples, type Finish, optionsOf } from '../command.js'
import { canAsk, confirm } from '../confirm.js'
import { UsageError } from '../errors.js'
import { grouped } from '../format.js'
import type { ExitCode, Io } from '../io.js'
import { createReporter, type Reporter } from '../output.js'
import { findMissingDatabase, type OperateOptions, withFlags } from '../with-service.js'

/** Adds the group and its commands. */
export function addMigrate(program: Command, io: Io, finish: Finish): void {
  const add = addGroup(
    program,
    'migrate',
    'bring the schema up to date, while the last release goes on',
    'migrate plan',
    'migrate apply',
  )
  add('plan', 'print the steps that are missing; changes nothing; exits with 1 when there are some')
    .addHelpText('after', examples('migrate plan', 'migrate plan --json'))
    .action(async (_options, command) => finish(await planMigration(optionsOf<OperateOptions>(command), io)))
  add('apply', 'run the steps that this release needs, before its first process starts')
    .addHelpText('after', examples('migrate apply'))
    .action(async (_options, command) => finish(await applyMigration(optionsOf<OperateOptions>(command), io)))
  add('contract', 'remove what older releases need, after their last process stopped')
    .option('-y, --yes', 'do not ask')
    .addHelpText('after', examples('migrate contract --yes'))
    .action(async (_options, command) => finish(await contractSchema(optionsOf<ContractOptions>(command), io)))
}

/** Options of {@link contractSchema}. */
interface ContractOptions extends OperateOptions {
  /** @default false */
  readonly yes?: boolean | undefined
}

type Schema = Pick<Store, 'migrate' | 'schema'>

/** Opens the database alone: a migration needs no other variable. */
async function withSchema(
  options: OperateOptions,
  io: Io,
  work: (store: Schema, report: Reporter) => Promise<ExitCode>,
): Promise<ExitCode> {
  const { openDatabase, readDatabaseConfig } = await import('@payment-integration/server/service')
  const database = readDatabaseConfig(withFlags(io.env, options))
  await findMissingDatabase(database, false)
  const store = await openDatabase(database)
  try {
    return await work(store, createReporter(io, options.json === true))
  } finally {
    await store.close()
  }
}

function planMigration(options: OperateOptions, io: Io): Promise<ExitCode> {
  return withSchema(options, io, async ({ schema }, report) => {
    const { expand, contract } = await schema.plan()
    report({ event: 'plan', expand, contract }, () => [
      ...(expand.length === 0
        ? ['The schema is up to date.']
        : ['migrate apply runs these steps:', ...expand.map(stepText)]),
      ...(contract.length === 0
        ? []
        : ['migrate contract runs these, once no older release runs:', ...contract.map(stepText)]),
    ])
    return expand.length === 0 ? 0 : 1
  })
}

function applyMigration(options: OperateOptions, io: Io): Promise<ExitCode> {
  return withSchema(options, io, async ({ migrate, schema }, report) => {
    const { expand } = await schema.plan()
    await migrate((progress) => showStep(progress, report))
    report({ event: 'migrated', steps: expand.length }, () => ['The schema is up to date.'])
    return 0
  })
}

function contractSchema(options: ContractOptions, io: Io): Promise<ExitCode> {
  return withSchema(options, io, async ({ schema }, report) => {
    const { contract } = await schema.plan()
    if (contract.length > 0 && !(await isConfirmed(options, contract, io))) return 1
    await schema.contract((progress) => showStep(progress, report))
    report({ event: 'contracted', steps: contract.length }, () => [
      contract.length === 0 ? 'Nothing is left of older releases.' : 'What older releases need is removed.',
    ])
    return 0
  })
}

async function isConfirmed({ yes = false }: ContractOptions, steps: readonly SchemaStep[], io: Io): Promise<boolean> {
  if (yes) return true
  if (!canAsk(io)) throw new UsageError('Processes of older releases fail after this; pass --yes once none runs.')
  for (const line of steps.map(stepText)) io.out(line)
  return confirm('Processes of older releases fail after this. Does none run any more?', io)
}

/** One line for a step that is not done. */
function stepText({ version, about, rows }: SchemaStep): string {
  return `  ${version}  ${about}${rows === null ? '' : `  (about ${grouped(rows)} rows)`}`
}

const words: Readonly<Record<SchemaProgress['event'], string>> = {
  begun: '…',
  waiting: 'waits for a lock',
  progress: '',
  done: 'done',
}

function showStep(progress: SchemaProgress, report: Reporter): void {
  const { event, version, about, rows, share } = progress
  const word = event === 'progress' ? `${Math.floor(share * 100)} %` : words[event]
  report({ event: `step.${event}`, version, about, rows, share }, () => [`  ${version}  ${about}: ${word}`])
}
